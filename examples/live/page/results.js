// SPDX-License-Identifier: LGPL-2.1-or-later
// The results as numbers and plots.
import { element, find, shape } from './dom.js';
import { currentSide } from './steps.js';

const MINUTE = 60, MOST = 6, WIDTH = 600, HEIGHT = 150;
let history = [], lastNumbers = '', lastEvents = '';

export function clearResults() {
  history = [];
  find('#counts').replaceChildren(element('p', {}, 'Nothing has been counted yet.'));
  find('#lists div').replaceChildren();
  find('#histogram').hidden = find('#events').hidden = true;
}

export function showSpeed(now, rates, spent) {
  const both = 'right' in now.sides, name = (side, text) => (both ? `${text}, ${side}` : text);
  const total = (times) => (times.includes(null) ? '–' : times.reduce((sum, time) => sum + time, 0).toFixed(1));
  const entries = Object.keys(now.sides).flatMap((side) => [
    [name(side, 'frames/s'), rates[side].toFixed(1)], [name(side, 'ms a frame, all steps'), total(spent[side])],
  ]);
  entries.push(['dropped', now.dropped], ['late', now.late], ['errors', now.errors]);
  const text = JSON.stringify(entries);
  if (text === lastNumbers) return;
  lastNumbers = text;
  find('.numbers').replaceChildren(...entries.map(([title, value]) =>
    element('div', {}, element('dt', {}, title), element('dd', {}, String(value)))));
}

export function plotResults(message) {
  if (message.side === 'left') {
    const values = { ...message.counts };
    const edges = message.tensors.find(({ id, mean }) => id === 'edges' && mean !== undefined);
    if (edges) values['edge pixels, %'] = 100 * edges.mean / 255;
    history = [...history.filter(({ at }) => performance.now() - at < 1000 * MINUTE), { at: performance.now(), values }];
    plotCounts();
  }
  if (message.side === currentSide()) {
    plotHistogram(message.histogram);
    if (find('#lists').open) showLists(message);
  }
  showEvents(message.events);
}

function legend(names, values) {
  return element('ul', { className: 'legend' }, ...names.map((name, n) =>
    element('li', {}, element('i', { className: `c${n}` }), `${name} `, element('b', {}, values[n]))));
}

const short = (value) => (Number.isInteger(value) ? String(value) : value.toFixed(1));

// A type may have the name of something that all objects have.
const countOf = (values, name) => (Object.hasOwn(values, name) ? values[name] : 0);

function plotCounts() {
  const names = [...new Set(history.flatMap(({ values }) => Object.keys(values)))].slice(0, MOST);
  if (!names.length) {
    find('#counts').replaceChildren(element('p', {}, 'No step counts anything here. Detectors, keypoints and lines do.'));
    return;
  }
  const now = performance.now(), most = history.reduce((most, { values }) => Object.values(values).reduce((a, b) => Math.max(a, b), most), 1);
  const chart = plot();
  names.forEach((name, n) => {
    const points = history.map(({ at, values }) =>
      [WIDTH - (now - at) / 1000 / MINUTE * WIDTH, HEIGHT - 3 - countOf(values, name) / most * (HEIGHT - 8)]);
    chart.append(shape('polyline', { points: points.map((p) => p.map((v) => v.toFixed(1))).join(' '), class: `c${n}` }));
  });
  find('#counts').replaceChildren(scale(`${short(most)}`, ''), chart, scale('a minute ago', 'now'),
    legend(names, names.map((name) => short(countOf(history.at(-1).values, name)))));
}

function plot() {
  const chart = shape('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', class: 'chart' });
  chart.setAttribute('aria-hidden', 'true');
  for (const y of [1, HEIGHT / 2, HEIGHT - 1]) chart.append(shape('line', { x1: 0, x2: WIDTH, y1: y, y2: y, class: 'grid' }));
  return chart;
}

const scale = (left, right) => element('div', { className: 'scale' }, element('span', {}, left), element('span', {}, right));

function plotHistogram(channels) {
  find('#histogram').hidden = !channels;
  if (!channels) return;
  const most = Math.max(1, ...channels.flat()), chart = plot();
  channels.forEach((bins, n) => chart.append(shape('polyline', { class: `c${n}`, points: bins.map((count, at) =>
    `${(at + 0.5) / bins.length * WIDTH},${HEIGHT - 2 - count / most * (HEIGHT - 6)}`).join(' ') })));
  find('#histogram div').replaceChildren(scale(`${most} pixels`, `${channels[0].length} bins`), chart,
    scale('the least value', 'the greatest value'));
}

function shown(value) {
  if (typeof value === 'object') return JSON.stringify(value);
  return typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(3) : String(value);
}

function table(title, rows) {
  const columns = [...new Set(rows.flatMap(Object.keys))];
  return element('table', {}, element('caption', {}, title),
    element('tr', {}, ...columns.map((name) => element('th', { scope: 'col' }, name))),
    ...rows.map((row) => element('tr', {}, ...columns.map((name) => element('td', {}, name in row ? shown(row[name]) : '')))));
}

function showLists({ lists, tensors, long }) {
  const tables = Object.entries(lists).map(([name, rows]) => table(`${name}, the first ${rows.length}`, rows));
  if (tensors.length) tables.push(table('tensors', tensors));
  const nothing = long ? `The line of this frame has ${long} bytes, too many to be shown.` : 'This frame has no results.';
  find('#lists div').replaceChildren(...(tables.length ? tables.map((made) => {
    const around = element('div', { className: 'scroll', tabIndex: 0 }, made);
    around.setAttribute('role', 'region');
    around.setAttribute('aria-label', made.caption.textContent);
    return around;
  }) : [element('p', {}, nothing)]));
}

function showEvents(events) {
  const text = JSON.stringify(events);
  if (text === lastEvents) return;
  lastEvents = text;
  find('#events').hidden = !events.length;
  const entry = (event) => Object.entries(event).map(([key, value]) => `${key}: ${shown(value)}`).join(', ');
  find('#events ol').replaceChildren(...[...events].reverse().map((event) => element('li', {}, entry(event))));
}
