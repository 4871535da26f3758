// SPDX-License-Identifier: LGPL-2.1-or-later
// Where tracks were: squares over the picture, and their legend.
import { find, findAll } from './dom.js';

const EVERY = 2000, HIGHEST = 0.98;  // a few squares, as before a bench, would leave all others in one colour
const COLOURS = [[13, 8, 135], [126, 3, 168], [204, 71, 120], [248, 149, 64], [240, 249, 33]];
const UNITS = { seconds: 'seconds, all tracks together', visits: 'tracks', speed: 'pixels a second' };
const button = find('#heat'), bar = find('#heatbar'), choice = find('select', bar);
let state = null;

export function showHeat(newState) {
  const other = state?.camera !== newState.camera;
  state = newState;
  if (other) update();
}

const isOn = () => button.getAttribute('aria-pressed') === 'true';

function colour(share) {
  const at = Math.min(share, 1) * (COLOURS.length - 1), first = Math.min(Math.floor(at), COLOURS.length - 2);
  return `rgb(${COLOURS[first].map((from, n) => Math.round(from + (COLOURS[first + 1][n] - from) * (at - first)))})`;
}

async function update() {
  for (const canvas of findAll('.heat')) canvas.hidden = !isOn();
  bar.hidden = !isOn();
  if (!isOn() || document.hidden || find('#one').hidden) return;
  const { camera, sides } = state, shown = choice.value, maps = {};
  for (const side of Object.keys(sides)) {
    const answer = await fetch(`cameras/${camera}/${side}/${shown}.json`).catch(() => null);
    if (answer?.ok) maps[side] = await answer.json();
  }
  if (camera === state.camera && shown === choice.value) draw(maps, shown);
}

/** Both sides have one legend. */
function draw(maps, shown) {
  const values = Object.values(maps).flatMap(({ squares }) => squares.map((square) => square[2])).sort((a, b) => a - b);
  const most = values[Math.floor(HIGHEST * (values.length - 1))], ramp = find('canvas', bar), legend = ramp.getContext('2d');
  for (const [side, { size, width, height, squares }] of Object.entries(maps)) {
    const canvas = find(`#${side} .heat`), picture = canvas.getContext('2d');
    Object.assign(canvas, { width, height });
    for (const [column, row, value] of squares) {
      picture.fillStyle = colour(value / most);
      picture.fillRect(column * size, row * size, size, size);
    }
  }
  for (let x = 0; x < ramp.width; ++x) {
    legend.fillStyle = colour(x / ramp.width);
    legend.fillRect(x, 0, 1, ramp.height);
  }
  find('output', bar).textContent = most === undefined ? 'Nobody yet: a tracker is needed, as cudavisiontrack.'
    : `${most < values.at(-1) ? '≥ ' : ''}${Number(most.toFixed(most < 10 ? 1 : 0))} ${UNITS[shown]}`;
}

button.onclick = () => { button.setAttribute('aria-pressed', !isOn()); update(); };
choice.onchange = update;
setInterval(update, EVERY);
