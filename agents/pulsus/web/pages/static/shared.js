"use strict";
// What every page shares. All text from the server is set as text, never as markup.

const metaOf = (name) => document.querySelector(`meta[name="pulsus-${name}"]`)?.content || "";
const csrf = metaOf("csrf");
const headers = { "Content-Type": "application/json", "X-CSRF-Token": csrf };
const byId = (id) => document.getElementById(id);

function errorText(error, status) {
  return [error?.message || `status ${status}`, error?.hint].filter(Boolean).join(". ");
}

function goToSignIn() {
  location.assign("/sign-in");
}

async function call(path, body) {
  const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body || {}) });
  const found = await answer.json().catch(() => ({}));
  if (answer.status === 401) goToSignIn();
  if (!answer.ok) throw new Error(errorText(found.error, answer.status));
  return found;
}

// The same rule as core/telemetry/visible_text.py: a test compares both.
const ignorable = /[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0000}-\u{e0fff}]/u;
const likeAscii = /[\uff01-\uff5e\u{1d400}-\u{1d7ff}\u2010\u2011\u2212\u2044\u2215\u2216\u2223\u2236\u037e\u01c0-\u01c3\u2024\u2032\ua789]/u;

function visible(value) {
  const text = String(value);
  const latin = /[a-z]/i.test(text);
  return Array.from(text, (char) => {
    if (char === "\n" || char === "\t" || (char >= " " && char <= "~")) return char;
    const hides = /[\p{C}\p{Z}]/u.test(char) || ignorable.test(char);
    const deceives = likeAscii.test(char)
      || (latin && /\p{L}/u.test(char) && !/\p{Script=Latin}/u.test(char));
    return hides || deceives ? `\\u{${char.codePointAt(0).toString(16)}}` : char;
  }).join("");
}

// The same rule as `visible_command` in core/telemetry/visible_text.py: one line, nothing scrolls away.
function visibleCommand(value) {
  const coded = String(value).replace(/[⏎␣]/g, (char) => `\\u{${char.codePointAt(0).toString(16)}}`);
  return visible(coded).replace(/\n+|[\t ]{9,}/g, (gap) => {
    const times = gap.length > 1 ? `×${gap.length}` : "";
    return ` ${gap[0] === "\n" ? "⏎" : "␣"}${times} `;
  });
}

// A stream of server-sent events that lasts. A browser gives up after an answer that is no stream:
// then `gone` is called, and the stream is opened again. Hidden pages close it, because a browser
// has six connections to one server.
function followEvents(path, names, heard, state) {
  let source = null;
  let later = 0;
  function open() {
    clearTimeout(later);
    if (document.hidden || source) return;
    source = new EventSource(path);
    source.onopen = () => state("live");
    source.onerror = () => {
      state("lost");
      if (source && source.readyState === EventSource.CLOSED) {
        source = null;
        later = setTimeout(() => { heard("gone", {}); open(); }, 3000);
      }
    };
    for (const name of names) {
      source.addEventListener(name, (event) => heard(name, JSON.parse(event.data)));
    }
  }
  function close() {
    clearTimeout(later);
    if (source) source.close();
    source = null;
  }
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", open);
  open();
  return close;
}

function showConnection(state) {
  const place = byId("connection");
  place.dataset.state = state;
  place.textContent = state === "live" ? "live" : "connection lost, trying again …";
}

if (byId("sign-out")) {
  byId("sign-out").addEventListener("click", async () => {
    await fetch("/sign-out", { method: "POST", headers, redirect: "manual" });
    goToSignIn();
  });
}
