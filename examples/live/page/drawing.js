// SPDX-License-Identifier: LGPL-2.1-or-later
// Lines, zones, the region of interest and four corners of the ground, drawn with the mouse, a finger or the keyboard.
import { element, find, findAll, saveJson, shape, toast } from './dom.js';
import { ask } from './main.js';
import { currentSide, currentSteps } from './steps.js';

const HINTS = {
  line: 'Press where the line begins, and let go where it ends.',
  zone: 'Click on the corners of the zone, and on the first one again to close it.',
  region: 'Draw the rectangle that the first step with a region of interest looks at.',
  corners: 'Click on the four corners of a rectangle on the ground, clockwise from the one that is to be at the top left. '
    + 'They may lie outside of the frame. A step cudarectify shows the rectangle from above.',
};
const KEYS = ' With the keyboard: arrows move the cross, Shift makes them faster, Enter sets a point, Escape ends.';
const MARGIN = 0.25;  // of the frame, around it, where corners can lie
const NEAR = 0.02;  // of the width: a click so near to the first corner closes a zone
const svg = find('#left svg');
const still = shape('image');  // the camera's own picture
let state = null, mode = null, points = [], cursor = null;

const isView = ({ element }) => element === 'cudarectify';
const hasRegion = (step) => 'roi-x' in step.values && !isView(step);
const isClicked = () => mode === 'zone' || mode === 'corners';  // and not drawn by one move

/** Whether what is drawn belongs to the picture that cudarectify makes, and not to that of the camera. */
function isBehindView() {
  const { steps, zonesBehindView } = state.sides[currentSide()];
  if (mode === 'region') return steps.slice(0, Math.max(0, steps.findIndex(hasRegion))).some(isView);
  return mode !== 'corners' && zonesBehindView;
}

/** Whether the camera's own picture is shown to draw on, because the video shows another one, or without a margin. */
const needsStill = () => mode === 'corners' || (mode && !isBehindView() && state.sides.left.steps.some(isView));
const sizeNow = () => (isBehindView() ? state.sides[currentSide()].size : state.size);

/** The least and the greatest coordinates that can be drawn. */
function reach() {
  const margin = sizeNow().map((length) => (mode === 'corners' ? Math.round(MARGIN * length) : 0));
  return sizeNow().map((length, n) => [-margin[n], length + margin[n] - 1]);
}

export function openDrawing() {
  setMode(null);
}

export function drawZones(newState) {
  state = newState;
  const [width, height] = sizeNow(), [[left, right], [upper, lower]] = reach(), isStill = needsStill();
  svg.setAttribute('viewBox', `${left} ${upper} ${right - left + 1 || 1} ${lower - upper + 1 || 1}`);
  svg.setAttribute('preserveAspectRatio', isStill ? 'xMidYMid' : 'none');
  svg.classList.toggle('still', isStill);
  const { lines, zones, corners } = zonesNow(), size = Math.max(12, width / 40);
  // cudavisionoverlay writes the names, with the counts.
  const label = mode || !currentSteps().some((step) => step.element === 'cudavisionoverlay') ? writeName : () => {};
  svg.replaceChildren();
  if (isStill) svg.append(still);
  if (corners) mark([...corners.points, corners.points[0]], false, 'new');
  for (const { name, from, to } of lines) { mark([from, to], false); arrow(from, to); label(name, from, to, size); }
  for (const { name, polygon } of zones) { mark(polygon, true); label(name, polygon[0], polygon[0], size); }
  const ahead = cursor ? [...points, cursor] : points;
  if (mode && ahead.length) mark(mode === 'region' && ahead.length > 1 ? box(ahead[0], ahead.at(-1)) : ahead, false, 'new');
  if (mode && cursor) cross(cursor, size);
  showList();
}

/** What is drawn already and belongs to the picture that is shown. */
function zonesNow() {
  const showsView = !needsStill() && state.sides.left.steps.some(isView);
  const { lines, zones, corners } = state.zones, fits = state.sides[currentSide()].zonesBehindView === showsView;
  return { lines: fits ? lines : [], zones: fits ? zones : [], corners: showsView ? null : corners };
}

function mark(corner, closed, more = '') {
  for (const style of ['shade', 'mark']) {
    const kind = closed ? 'polygon' : 'polyline';
    svg.append(shape(kind, { points: corner.join(' '), class: `${style} ${closed ? 'area' : ''} ${more}` }));
  }
}

/** Points to the right of the line, from its beginning to its end. */
function arrow(from, to) {
  const [x, y] = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2], length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
  const along = [(to[0] - from[0]) / length, (to[1] - from[1]) / length], size = state.size[0] / 40;
  const at = (a, b) => [x - along[1] * a * size + along[0] * b * size, y + along[0] * a * size + along[1] * b * size];
  mark([at(0, 0), at(1.2, 0), at(0.7, 0.35), at(1.2, 0), at(0.7, -0.35)], false);
}

function writeName(name, from, to, size) {
  const x = (from[0] + to[0]) / 2 + size / 3, y = Math.max(size, (from[1] + to[1]) / 2 - size / 3);
  svg.append(shape('text', { x, y, class: 'label', 'font-size': size }, name));
}

function cross([x, y], size) {
  mark([[x - size, y], [x + size, y]], false);
  mark([[x, y - size], [x, y + size]], false);
}

const box = ([x, y], [u, v]) => [[x, y], [u, y], [u, v], [x, v], [x, y]];

function showList() {
  const entry = (kind, its, number) => {
    const rename = () => name.value && change((all) => { all[kind][number].name = name.value; });
    const name = element('input', { type: 'text', value: its.name, maxLength: 64, onchange: rename });
    name.setAttribute('aria-label', `Name of ${its.name}`);
    const remove = element('button', { onclick: () => change((all) => all[kind].splice(number, 1)) }, '✕');
    remove.setAttribute('aria-label', `Remove ${its.name}`);
    return element('li', {}, name, remove);
  };
  const { lines, zones, corners } = state.zones, text = JSON.stringify(state.zones);
  find('#zones').hidden = !lines.length && !zones.length && !corners;
  const list = find('#zones ul');
  if (list.dataset.shown === text) return;
  list.dataset.shown = text;
  list.replaceChildren(...lines.map((its, n) => entry('lines', its, n)), ...zones.map((its, n) => entry('zones', its, n)),
    ...(corners ? [groundEntry(corners)] : []));
}

/** The four corners: how wide and how long their rectangle is, from its top left corner on. */
function groundEntry({ metres }) {
  const length = (name, n) => {
    const set = ({ target }) => change((all) => { all.corners.metres[n] = target.valueAsNumber || 0; });
    const made = element('input', { type: 'number', min: 0, step: 'any', value: metres[n] || '', onchange: set });
    made.setAttribute('aria-label', `Metres, ${name}`);
    return made;
  };
  const remove = element('button', { onclick: () => change((all) => { delete all.corners; }) }, '✕');
  remove.setAttribute('aria-label', 'Remove the four corners');
  return element('li', {}, 'four corners:', length('wide', 0), 'm wide,', length('long', 1), 'm long', remove);
}

function change(edit) {
  const zones = structuredClone(state.zones);
  edit(zones);
  return ask({ do: 'zones', zones });
}

function setMode(next) {
  mode = next;
  points = [];
  cursor = null;
  for (const button of findAll('[data-draw]')) button.setAttribute('aria-pressed', button.dataset.draw === mode);
  svg.classList.toggle('drawing', Boolean(mode));
  svg.setAttribute('tabindex', mode ? 0 : -1);
  find('#hint').hidden = !mode;
  find('#hint').textContent = mode ? HINTS[mode] + KEYS : '';
  if (mode) {
    svg.focus();
    cursor = sizeNow().map((length) => Math.round(length / 2));
    const [width, height] = state.size;
    for (const [key, value] of Object.entries({ width, height, preserveAspectRatio: 'none' })) still.setAttribute(key, value);
    if (needsStill()) still.setAttribute('href', `cameras/${state.camera}/still.jpg?${Date.now()}`);
  }
  if (state) drawZones(state);
}

function place(event) {
  const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  return inReach([Math.floor(x), Math.floor(y)]);
}

function inReach(point) {
  return reach().map(([least, most], n) => Math.min(Math.max(point[n], least), most));
}

function free(prefix, used) {
  let number = 1;
  while (used.some(({ name }) => name === `${prefix} ${number}`)) ++number;
  return `${prefix} ${number}`;
}

/** One more point. A line and a region end with the second one, corners with the fourth, a zone with one at its beginning. */
function add(point) {
  const near = points.length > 2 && Math.hypot(point[0] - points[0][0], point[1] - points[0][1]) < NEAR * sizeNow()[0];
  if (mode === 'zone' && near) {
    const polygon = points;
    change(({ zones }) => zones.push({ name: free('zone', zones), polygon }));
    setMode(null);
    return;
  }
  points.push(point);
  if (mode === 'corners' && points.length === 4) {
    setCorners(points);
    setMode(null);
  } else if (!isClicked() && points.length === 2) {
    const [from, to] = points;
    if (mode === 'line') change(({ lines }) => lines.push({ name: free('line', lines), from, to }));
    else setRegion(from, to);
    setMode(null);
  }
  drawZones(state);
}

/** They are the corners of cudarectify's picture, and with their metres those of the ground. */
async function setCorners(points) {
  if (await change((all) => { all.corners = { points, metres: all.corners?.metres ?? [0, 0] }; })) return;
  const step = currentSteps().findIndex(isView);
  const text = points.map((point) => point.map((at, n) => ((at + 0.5) / state.size[n]).toFixed(5)).join(',')).join(' ');
  if (step >= 0) ask({ do: 'set', side: currentSide(), step, values: { corners: text, view: 'plane' } });
}

function setRegion([x, y], [u, v]) {
  const step = currentSteps().findIndex(hasRegion);
  const values = { 'roi-x': Math.min(x, u), 'roi-y': Math.min(y, v),
    'roi-width': Math.max(1, Math.abs(u - x)), 'roi-height': Math.max(1, Math.abs(v - y)) };
  if (step < 0) toast('No step has a region of interest.');
  else ask({ do: 'set', side: currentSide(), step, values });
}

svg.onpointerdown = (event) => {
  if (!mode) return;
  svg.setPointerCapture(event.pointerId);
  if (!isClicked()) points = [];
  add(place(event));
};
svg.onpointermove = (event) => { if (mode) { cursor = place(event); drawZones(state); } };
svg.onpointerup = (event) => {
  const point = place(event), begun = mode && !isClicked() && points.length === 1;
  if (begun && Math.hypot(point[0] - points[0][0], point[1] - points[0][1]) > 3) add(point);
};
svg.onkeydown = (event) => {
  const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!mode || !(move || event.key === 'Enter' || event.key === 'Escape')) return;
  event.preventDefault();
  if (move) {
    cursor = inReach(cursor.map((at, n) => at + move[n] * (event.shiftKey ? 20 : 4)));
    drawZones(state);
  } else if (event.key === 'Enter') add(cursor);
  else { setMode(null); }
};
for (const button of findAll('[data-draw]')) {
  button.onclick = () => setMode(mode === button.dataset.draw ? null : button.dataset.draw);
}
find('#savezones').onclick = () => saveJson('zones.json', state.sides[currentSide()].zones);
