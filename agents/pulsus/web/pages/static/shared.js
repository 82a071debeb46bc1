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

// The same rule as core/telemetry/visible_text.py: a test compares both for every character.
const ignorable = /[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0000}-\u{e0fff}]/u;
const likeAscii = new RegExp(`[${[
  "\\uff01-\\uff5e\\u{1d400}-\\u{1d7ff}\\u2010\\u2011\\u2212\\u2044\\u2215\\u2216\\u2223\\u2236\\u037e\\u01c0-\\u01c3",
  "\\u2024\\u2032\\ua789\\u00a6\\u00b4\\u00b8\\u02c4-\\u02c6\\u02d7\\u02dc\\u0589\\u05c0\\u05c3\\u060d\\u066a-\\u066d\\u06d4",
  "\\u1735\\u201a\\u201b\\u2035\\u2043\\u204e\\u2052\\u2053\\u205a\\u2217\\u223c\\u23fd\\u2571\\u2572\\u2758\\u2768-\\u2775",
  "\\u2795\\u2796\\u27cb\\u27cd\\u29f5\\u29f8\\u29f9\\u31d3\\u31d4\\ufe30\\ufe50-\\ufe6f\\uffe8\\u{1fbf0}-\\u{1fbf9}\\u2025",
  "\\ufb00-\\ufb06\\u2160-\\u2188\\u0131\\u017f\\u0251\\u0261\\u05c1\\u05c2\\u2039\\u203a\\u02c2\\u02c3",
].join("")}]`, "u");
const latinLetters = /[\u00c0-\u024f\u1e00-\u1eff]/;

function codeOf(char) {
  return `\\u{${char.codePointAt(0).toString(16)}}`;
}

function visible(value) {
  const text = String(value);
  const latin = /[A-Za-z]/.test(text);
  return text.replace(/[^\t\n -~]/gu, (char) => {
    const hides = /[\p{C}\p{Z}\p{Nd}]/u.test(char) || ignorable.test(char) || likeAscii.test(char);
    const foreign = latin && /[\p{L}\p{M}\p{Nl}]/u.test(char) && !latinLetters.test(char);
    return hides || foreign ? codeOf(char) : char;
  });
}

// The same rule as `visible_command` there: one line, nothing scrolls away.
function visibleCommand(value) {
  return visible(String(value).replace(/[⏎␣]/g, codeOf)).replace(/\n+|[\t ]{9,}/g, (gap) => {
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
