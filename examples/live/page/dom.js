// SPDX-License-Identifier: LGPL-2.1-or-later
// Small helpers for the document.
export const find = (selector, within = document) => within.querySelector(selector);
export const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];

export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

export function shape(name, attributes = {}, text = '') {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

export function toast(text, good = false) {
  const made = element('p', { className: good ? 'good' : '' }, text);
  find('#toasts').append(made);
  setTimeout(() => made.remove(), good ? 2500 : 8000);
}

export function save(name, blob) {
  const link = element('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export function saveJson(name, value) {
  save(name, new Blob([JSON.stringify(value, null, 2) + '\n'], { type: 'application/json' }));
}
