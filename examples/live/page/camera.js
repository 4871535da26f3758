// SPDX-License-Identifier: LGPL-2.1-or-later
// One camera: its picture, playback, and what is taken away from it.
import { find, findAll, save, toast } from './dom.js';
import { drawZones, openDrawing } from './drawing.js';
import { showHeat } from './heat.js';
import { ask, draw } from './main.js';
import { clearResults, plotResults, showSpeed } from './results.js';
import { showSpent, showSteps, currentSide } from './steps.js';

let state, seeking = false, compared = '';

export function openCamera(newState) {
  clearResults();
  openDrawing();
  for (const canvas of findAll('#one canvas')) canvas.getContext('2d').clearRect(0, 0, canvas.width, canvas.height);
  for (const frame of findAll('#one .frame')) frame.classList.add('empty');
  showState(newState);
}

const clock = (seconds) => `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(1).padStart(4, '0')}`;

export function showState(newState) {
  state = newState;
  const both = Boolean(state.sides.right), error = state.error || state.sides.left.error || state.sides.right?.error;
  const wrong = [error, ...state.notes, ...Object.values(state.sides).flatMap((its) => its.notes)].filter(Boolean).join('\n');
  find('#right').hidden = find('#left figcaption').hidden = !both;
  press('#compare', both);
  press('#pause', state.paused);
  find('#pause').textContent = state.paused ? 'Play' : 'Pause';
  find('#player').hidden = !state.file;
  find('#position').max = state.duration || 1;
  if (find('#failure').textContent !== wrong) find('#failure').textContent = wrong;
  find('#failure').hidden = !wrong;
  for (const [side, its] of Object.entries(state.sides)) showWaits(find(`#${side} .frame`), its.waits);
  showSteps(state);
  showTexts();
  drawZones(state);
  showHeat(state);
}

function press(selector, on) {
  find(selector).setAttribute('aria-pressed', on);
}

function showTexts() {
  const texts = state.sides[currentSide()] ?? state.sides.left;
  find('#launch').textContent = texts.launch + find('#end').value;
  find('#python').textContent = texts.python;
  find('#json').href = `cameras/${state.camera}/${currentSide()}.json`;
}

export function showPicture(side, bitmap, time) {
  draw(find(`#${side} canvas`), bitmap);
  find(`#${side} .frame`).classList.remove('empty');
  if (side !== 'left' || !state.file) return;
  if (!seeking) find('#position').value = time;
  find('#position').setAttribute('aria-valuetext', clock(time));
  find('#time').textContent = `${clock(time)} / ${clock(state.duration)}`;
}

/** Shows what the next picture waits for: all over the frame until the first one has come, then at its lower edge. */
export function showWaits(frame, text) {
  const shown = text || (frame.classList.contains('empty') ? 'Waiting for the first picture.' : '');
  const place = find('.waits', frame);
  if (place.textContent !== shown) place.textContent = shown;
}

export const showResults = plotResults;

export function showNumbers(now, then, rates) {
  const spent = Object.fromEntries(Object.entries(now.sides).map(([side, its]) => {
    const old = then?.sides[side], frames = old ? its.processed - old.processed : 0;
    const spentBy = (seconds, n) => (frames > 0 && n in old.seconds ? 1000 * (seconds - old.seconds[n]) / frames : null);
    return [side, its.seconds.map(spentBy)];
  }));
  for (const [side, its] of Object.entries(now.sides)) showWaits(find(`#${side} .frame`), its.waits);
  showSpent(spent);
  showSpeed(now, rates, spent);
}

find('#pause').onclick = () => ask({ do: 'pause', on: !state.paused });
find('#back').onclick = () => ask({ do: 'step', frames: -1 });
find('#forward').onclick = () => ask({ do: 'step', frames: 1 });
find('#compare').onclick = () => ask({ do: 'compare', on: !state.sides.right });
find('#position').oninput = async ({ target }) => {
  compared = target.value;
  if (seeking) return;
  seeking = true;
  for (let sent; sent !== compared;) {
    sent = compared;
    await ask({ do: 'seek', seconds: Number(sent) });
  }
  seeking = false;
};
find('#end').onchange = showTexts;
for (const tab of findAll('aside .tabs button')) tab.addEventListener('click', showTexts);
for (const button of findAll('[data-copy]')) {
  button.onclick = async () => {
    const text = find(`#${button.dataset.copy}`);
    try {
      await navigator.clipboard.writeText(text.textContent);
      toast('Copied.', true);
    } catch { select(text); }
  };
}

/** A page without TLS on another host may not write the clipboard: then the text is selected for Ctrl+C. */
function select(text) {
  getSelection().selectAllChildren(text);
  toast('The text is selected: copy it with Ctrl+C.', true);
}

find('#save').onclick = () => {
  for (const side of state.sides.right ? ['left', 'right'] : ['left']) {
    find(`#${side} canvas`).toBlob((blob) => save(`${state.name.replace(/[^\w.-]+/g, '_')}-${side}.png`, blob));
  }
};
