// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of steps, with a control for each property, made from what GObject says of it.
import { element, find, findAll, saveJson, toast } from './dom.js';
import { ask, catalogue } from './main.js';

const MOTION = ['cudabgsub', { scale: '1/2', 'learning-rate': 0.001, display: false }];
const EXAMPLES = {
  'Edges': [['cudacanny', { output: 'overlay', color: 'lime' }]],
  'People with ids': [MOTION, ['cudahog', { model: 'people', 'roi-type': 'motion', 'hit-threshold': -0.3, display: false }],
    ['cudavisiontrack', { type: 'person' }], ['cudavisionoverlay', { hide: 'motion' }]],
  'People removed': [['cudahog', { model: 'people', display: false, 'hit-threshold': -0.6, 'group-threshold': 1 }],
    ['cudainpaint', { 'remove-type': 'person', mode: 'temporal', dilate: 8, 'search-radius': 80 }]],
  'Motion': [['cudaopticalflow', { preset: 'fast' }]],
  'Lines': [['cudahough', { mode: 'segments', threshold: 60 }]],
  'Keypoints': [['cudasigma2kp', { orientation: true }]],
  'Histogram': [['cudahistogram', {}]],
  'From above': [['cudarectify', { view: 'plane', corners: '0.4,0.4 0.6,0.4 0.9,1 0.1,1' }]],
  'Is the camera all right?': [['cudacameracheck', {}]],
};
const SLIDER = 1000;  // the steps of a slider
let side = 'left', state = null, cards = [], shown = { of: null, names: [] };
const unfolded = new Map();  // which parts of which elements the user has opened or closed

const described = () => state.sides[side].steps.map((step) => ({ element: step.element, properties: step.properties }));
const replace = (steps) => ask({ do: 'steps', side, steps });
export const currentSide = () => side;
export const currentSteps = () => state.sides[side].steps;

/** Between the value of a number and its place on a slider, from 0 to 1. In wide ranges, values near the default get more room,
 *  and those far above it are left to the field. */
function scale({ min, max, default: usual, kind, slider }) {
  const round = (value) => (kind === 'int' ? Math.round(value) : Number(value.toPrecision(3)));
  if (slider) {  // a time in nanoseconds
    const [end, step] = slider;
    return { place: (value) => Math.min(1, value / end), value: (place) => Math.round(place * end / step) * step };
  }
  if (min < 0 && usual > min && max - min > 100) {  // on both sides of the default
    const bend = (at) => Math.sign(at) * Math.abs(at) ** 4, side = (at) => (at < 0 ? usual - min : max - usual);
    return { place: (value) => (1 + Math.sign(value - usual) * (Math.abs(value - usual) / side(value - usual)) ** 0.25) / 2,
      value: (place) => round(usual + bend(2 * place - 1) * side(place - 0.5)) };
  }
  const reach = usual > min ? 20 * (usual - min) : kind === 'int' ? 1000 : 10, wide = max - min > 2 * reach;
  const length = wide ? reach : max - min, power = wide ? 2 : 1;
  return { place: (value) => Math.min(1, Math.max(0, (value - min) / length)) ** (1 / power),
    value: (place) => round(min + length * place ** power) };
}

/** Sends the newest value, and leaves out those that came while another was on its way. */
function sender(step, name, refused) {
  let busy = false, waiting;
  return async (value) => {
    waiting = value;
    if (busy) return;
    busy = true;
    while (waiting !== undefined) {
      const next = waiting;
      waiting = undefined;
      if (await ask({ do: 'set', side, step, values: { [name]: next } })) refused();
    }
    busy = false;
  };
}

function control(property, id, set) {
  if (property.kind === 'bool') {
    const box = element('input', { type: 'checkbox', id, onchange: () => set(box.checked) });
    return { parts: [box], show: (value) => { box.checked = value; } };
  }
  if (property.kind === 'enum') {
    const list = element('select', { id, onchange: () => set(list.value) },
      ...property.options.map(([value, help]) => element('option', { value, title: help }, value)));
    return { parts: [list], show: (value) => { list.value = value; },
      help: () => property.options.find(([value]) => value === list.value)?.[1] };
  }
  if (property.kind === 'int' || property.kind === 'float') return numberControl(property, id, set);
  const text = element('input', { type: 'text', id, spellcheck: false, onchange: () => set(text.value) });
  return { parts: [text], show: (value, always) => { if (always || document.activeElement !== text) text.value = value; } };
}

function numberControl(property, id, set) {
  const { place, value } = scale(property);
  const number = element('input', { type: 'number', id, min: property.min, max: property.max,
    step: property.kind === 'int' ? 1 : 'any', onchange: () => number.value !== '' && set(number.valueAsNumber) });
  const slider = element('input', { type: 'range', min: 0, max: SLIDER, oninput: () => {
    number.value = value(slider.value / SLIDER);
    slider.setAttribute('aria-valuetext', number.value);
    set(number.valueAsNumber);
  } });
  slider.setAttribute('aria-label', `${property.name}, slider`);
  const tick = element('i', { title: `default: ${property.default}` });
  const at = place(property.default);
  tick.style.left = `calc(${at * 100}% + ${(0.5 - at) * 16}px)`;
  return { parts: [number], below: element('div', { className: 'slider' }, slider, tick), show: (shown, always) => {
    if (always || document.activeElement !== number) number.value = Number(shown.toPrecision?.(12) ?? shown);
    if (always || document.activeElement !== slider) slider.value = place(shown) * SLIDER;
    slider.setAttribute('aria-valuetext', shown);
  } };
}

function propertyRow(property, step, shows) {
  const { name } = property, id = `p-${step}-${name}`, refused = () => shows.get(name)(currentSteps()[step].values[name], true);
  const set = sender(step, name, refused), made = control(property, id, set);
  const help = element('small', { id: `${id}-help` });
  const usual = property.default === '' ? 'empty' : property.default;
  const reset = element('button', { className: 'reset', title: `Back to the default: ${usual}` }, '↺');
  reset.onclick = () => set(property.default);
  reset.setAttribute('aria-label', `${property.name}: back to the default`);
  made.parts[0].setAttribute('aria-describedby', help.id);
  shows.set(property.name, (value, always) => {
    made.show(value, always);
    reset.disabled = value === property.default;
    const option = made.help?.();
    help.textContent = property.help + (option ? `. ${value}: ${option}` : '') + (property.live ? '' : ' (begins anew)');
  });
  return element('div', { className: 'property' }, element('label', { htmlFor: id }, property.name), ...made.parts, reset,
    ...(made.below ? [made.below] : []), help);
}

function button(text, label, onclick, disabled = false) {
  const made = element('button', { onclick, disabled, title: label }, text);
  made.setAttribute('aria-label', label);
  return made;
}

function card(step, number, count, isNew) {
  const shows = new Map(), { help, properties } = catalogue[step.element];
  const rows = (common) => properties.filter((p) => p.common === common).map((p) => propertyRow(p, number, shows));
  const fold = (title, usual, parts) => {
    const key = `${step.element} ${title}`, open = unfolded.get(key) ?? usual;
    const made = element('details', { open }, element('summary', { onclick: () => unfolded.set(key, !made.open) }, title), ...parts);
    return parts.length ? [made] : [];
  };
  const move = (to) => () => { const steps = described(); steps.splice(to, 0, ...steps.splice(number, 1)); replace(steps); };
  const note = element('p', { className: 'note', hidden: true }), spent = element('span', { className: 'spent' });
  note.setAttribute('role', 'alert');
  const head = element('header', {}, element('h3', {}, `${number + 1}. ${step.element}`), spent,
    button('↑', `Move ${step.element} up`, move(number - 1), number === 0),
    button('↓', `Move ${step.element} down`, move(number + 1), number === count - 1),
    button('✕', `Remove ${step.element}`, () => replace(described().filter((_, n) => n !== number))));
  find('#steps').append(element('li', { className: 'step' }, head, element('p', {}, help), note,
    ...fold('Properties', count === 1 || isNew, rows(false)),
    ...fold('What all elements have', false, rows(true))));
  return { shows, note, spent };
}

/** Shows the steps of the open camera. Controls that the user holds keep what he does. */
export function showSteps(newState) {
  state = newState;
  if (!state.sides[side]) side = 'left';
  const { steps, error, errorStep } = state.sides[side];
  const of = `${state.camera} ${side}`, names = steps.map((step) => step.element), before = shown;
  if (of !== before.of || names.join() !== before.names.join()) {
    const added = names.length === before.names.length + 1 ? names.findIndex((name, n) => name !== before.names[n]) : names.length - 1;
    shown = { of, names };
    find('#steps').replaceChildren();
    cards = steps.map((step, number) => card(step, number, steps.length, of === before.of && number === added));
  }
  steps.forEach((step, number) => {
    const said = errorStep === number ? error : step.notes.join('\n'), news = said && cards[number].note.textContent !== said;
    for (const [name, show] of cards[number].shows) show(step.values[name], news);
    cards[number].note.hidden = !said;
    if (cards[number].note.textContent !== said) cards[number].note.textContent = said;
  });
  find('aside .tabs').hidden = !state.sides.right;
  for (const tab of findAll('aside .tabs button')) tab.setAttribute('aria-pressed', tab.dataset.side === side);
  if (find('#add').length === 1) fillLists();
}

export function showSpent(milliseconds) {
  milliseconds[side]?.forEach((time, number) => {
    if (cards[number]) cards[number].spent.textContent = time === null ? '' : `${time.toFixed(1)} ms`;
  });
}

function fillLists() {
  for (const [name, { help }] of Object.entries(catalogue)) {
    find('#add').append(element('option', { value: name, title: help }, name));
  }
  for (const name of Object.keys(EXAMPLES)) find('#example').append(element('option', {}, name));
}

find('#add').onchange = ({ target }) => {
  replace([...described(), { element: target.value, properties: {} }]);
  target.value = '';
};
find('#example').onchange = ({ target }) => {
  replace(EXAMPLES[target.value].map(([name, properties]) => ({ element: name, properties })));
  target.value = '';
};
for (const tab of findAll('aside .tabs button')) tab.onclick = () => { side = tab.dataset.side; showSteps(state); };
find('#savepreset').onclick = () => saveJson('preset.json', { steps: described(), zones: state.zones });
find('#openpreset').onchange = async ({ target }) => {
  const text = await target.files[0]?.text();
  target.value = '';
  try {
    const preset = JSON.parse(text);
    if (!await replace(preset.steps) && preset.zones) await ask({ do: 'zones', zones: preset.zones });
  } catch { toast('This file is no preset.'); }
};
