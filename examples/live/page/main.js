// SPDX-License-Identifier: LGPL-2.1-or-later
// The connection to the server, the wall, and which camera is open.
import { openCamera, showNumbers, showPicture, showResults, showState, showWaits } from './camera.js';
import { element, find, toast } from './dom.js';

export const catalogue = {};  // of each element: its help and its properties
const LOST = 'connection lost: trying again';
const SOCKET = location.origin + new URL('socket', location.href).pathname;  // without the password of an address
const cameras = [];           // the last state of each
const answers = new Map();    // the functions that wait for the reply to a command
const tiles = [];
let socket, connected, serial = 0, open = null, before = null;

/** Sends a command. The promise gives the error of the server, or an empty text. */
export function send(command) {
  if (socket.readyState !== WebSocket.OPEN) return Promise.resolve('There is no connection to the server.');
  return new Promise((resolve) => {
    answers.set(++serial, resolve);
    socket.send(JSON.stringify({ id: serial, ...command }));
  });
}

/** Sends a command for the open camera, and shows its error. */
export async function ask(command) {
  const error = await send({ camera: open, ...command });
  if (error) toast(error);
  return error;
}

function connect() {
  const address = new URL(SOCKET);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  socket = new WebSocket(address);
  connected = false;
  socket.binaryType = 'arraybuffer';
  socket.onopen = () => { connected = true; status('connected', false); };
  socket.onclose = () => {
    if (connected) status(LOST, true);
    else explain();
    for (const resolve of answers.values()) resolve('The connection to the server was lost.');
    answers.clear();
    setTimeout(connect, 1500);
  };
  socket.onmessage = ({ data }) => (typeof data === 'string' ? onMessage(JSON.parse(data)) : onPicture(data));
}

/** A browser does not show what the server says when it refuses a WebSocket: this asks for it in a request of its own. */
async function explain() {
  const answer = await fetch(SOCKET, { method: 'POST' }).catch(() => null);
  const isOurs = answer?.headers.get('Content-Type')?.startsWith('text/plain');  // and no page of a proxy
  const told = isOurs ? await answer.text() : LOST, place = find('#connecting');
  if (connected) return;
  status(told, true);
  if (place) place.textContent = told;
}

function status(text, lost) {
  find('#link').textContent = text;
  find('#link').classList.toggle('lost', lost);
}

function onMessage(message) {
  if ('reply' in message) {
    answers.get(message.reply)?.(message.error);
    answers.delete(message.reply);
  } else if ('elements' in message) {
    Object.assign(catalogue, message.elements);
    cameras.length = message.cameras;
    if (cameras.length === 1 && !location.hash) location.replace('#camera-0');
    watch();
  } else if ('state' in message) {
    cameras[message.state.camera] = message.state;
    showTile(message.state);
    if (message.state.camera === open) showState(message.state);
    else if (open === null) route();
  } else if ('numbers' in message) {
    onNumbers(message);
  } else if (message.results === open) {
    showResults(message);
  }
}

function onNumbers(message) {
  const seconds = before ? message.at - before.at : 0;
  message.numbers.forEach((now, camera) => {
    const then = before?.numbers[camera];
    const rates = Object.fromEntries(Object.entries(now.sides).map(([side, its]) =>
      [side, then?.sides[side] && seconds ? Math.max(0, its.processed - then.sides[side].processed) / seconds : 0]));
    if (tiles[camera]) {
      tiles[camera].rate.textContent = `${rates.left.toFixed(1)} frames/s`;
      showWaits(tiles[camera].frame, now.sides.left.waits);
    }
    if (camera === open) showNumbers(now, then, rates);
  });
  before = message;
}

async function onPicture(data) {
  const [camera, side] = new Uint8Array(data, 0, 2);
  const time = Number(new DataView(data, 2, 8).getBigUint64(0)) / 1e6;
  const blob = new Blob([new Uint8Array(data, 10)], { type: 'image/jpeg' });
  const bitmap = await createImageBitmap(blob);
  if (camera === open) showPicture(side ? 'right' : 'left', bitmap, time);
  else if (open === null && side === 0 && tiles[camera]) {
    draw(tiles[camera].canvas, bitmap);
    tiles[camera].frame.classList.remove('empty');
  }
  bitmap.close();
}

export function draw(canvas, bitmap) {
  if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
    canvas.width = bitmap.width;
    canvas.height = bitmap.height;
    canvas.closest('.frame').style.setProperty('--aspect', bitmap.width / bitmap.height);
  }
  canvas.getContext('2d').drawImage(bitmap, 0, 0);
}

function showTile(state) {
  let tile = tiles[state.camera];
  if (!tile) {
    tile = tiles[state.camera] = { canvas: element('canvas', { width: 640, height: 480 }),
      rate: element('span', { className: 'rate' }), error: element('p', { className: 'error', hidden: true }) };
    tile.frame = element('div', { className: 'frame empty' }, tile.canvas, element('p', { className: 'waits' }));
    tile.link = element('a', { className: 'tile', href: `#camera-${state.camera}` }, tile.frame,
      element('p', {}, element('span', { className: 'name' }, state.name), tile.rate), tile.error);
    find('#connecting')?.remove();
    find('#wall').append(tile.link);
  }
  const { error, notes, steps } = state.sides.left;
  const wrong = [state.error || error, ...state.notes, ...notes, ...steps.flatMap((step) => step.notes)].filter(Boolean).join('\n');
  tile.error.textContent = wrong;
  tile.error.hidden = !wrong;
  showWaits(tile.frame, state.sides.left.waits);
}

function route() {
  const number = Number(location.hash.match(/^#camera-(\d+)$/)?.[1] ?? NaN);
  const wanted = cameras[number] ? number : null;
  find('#wall').hidden = wanted !== null;
  find('#one').hidden = wanted === null;
  find('#where').textContent = wanted === null ? (cameras.length > 1 ? `${cameras.length} cameras` : '') : cameras[wanted].name;
  if (wanted === open) return;
  open = wanted;
  if (open !== null) openCamera(cameras[open]);
  watch();
}

function watch() {
  const all = open === null ? Object.fromEntries([...cameras.keys()].map((number) => [number, 'tile'])) : { [open]: 'whole' };
  send({ do: 'watch', cameras: all });
}

addEventListener('hashchange', route);
connect();
