"use strict";
// Completes @names in the field of a question, as the terminal's chat does: the name before the
// cursor, with the ids of what has it. The server resolves every id again.

const wordBefore = /(?:^|\s)@([^\s@"]*)$/u;
const mentioned = /(?:^|[^\w@./:-])@(?:"([^"\n]{1,200})"|([\w][\w.:/-]{0,254}))/gu;
const plainName = /^[\w][\w.:/-]*$/;
const mostShown = 8;

// Returns `mentions()`: those of the text, with an id if its name was chosen or has one only.
function mentionBox(field, list, status) {
  let names = [];
  let shown = [];
  let active = -1;
  const chosen = new Map(); // name -> id, for a name that several resources have

  async function load() {
    const answer = await fetch("/api/v1/mentions");
    if (answer.ok) names = (await answer.json()).names;
  }

  function close() {
    list.hidden = true;
    list.replaceChildren();
    [shown, active] = [[], -1];
    field.removeAttribute("aria-activedescendant");
    status.textContent = "";
  }

  function mark(number) {
    active = number;
    Array.from(list.children).forEach((item, n) => item.setAttribute("aria-selected", String(n === number)));
    field.setAttribute("aria-activedescendant", list.children[number].id);
    list.children[number].scrollIntoView({ block: "nearest" });
  }

  function optionOf(each, number) {
    const item = document.createElement("li");
    item.setAttribute("role", "option");
    item.id = `name-${number}`;
    const [name, about] = [document.createElement("strong"), document.createElement("span")];
    name.textContent = visible(each.name);
    about.textContent = visible(` ${each.resource_type}, ${each.status}, ${each.resource_id}`);
    about.className = "quiet";
    item.append(name, about);
    // The field keeps the focus.
    item.addEventListener("mousedown", (event) => { event.preventDefault(); take(number); });
    return item;
  }

  function offer() {
    const word = wordBefore.exec(field.value.slice(0, field.selectionStart));
    if (!word) { close(); return; }
    const start = word[1].toLowerCase();
    const starting = names.filter((each) => each.name.toLowerCase().startsWith(start));
    const having = names.filter((each) => !starting.includes(each) && each.name.toLowerCase().includes(start));
    const found = [...starting, ...(start ? having : [])];
    if (!found.length) { close(); if (start) status.textContent = "No name fits."; return; }
    shown = found.slice(0, mostShown);
    list.replaceChildren(...shown.map(optionOf));
    list.hidden = false;
    mark(0);
    const count = found.length === 1 ? "1 name" : `${found.length} names`;
    status.textContent = found.length > shown.length ? `${count}, ${shown.length} shown.` : `${count}.`;
  }

  function take(number) {
    const each = shown[number];
    const end = field.selectionStart;
    const start = field.value.slice(0, end).lastIndexOf("@");
    const text = plainName.test(each.name) ? `@${each.name} ` : `@"${each.name}" `;
    chosen.set(each.name, each.resource_id);
    field.setRangeText(text, start, end, "end");
    close();
    field.dispatchEvent(new Event("input"));
  }

  // True if the key was one of the list.
  function key(event) {
    if (list.hidden) return false;
    const count = shown.length;
    if (event.key === "ArrowDown") mark((active + 1) % count);
    else if (event.key === "ArrowUp") mark((active + count - 1) % count);
    else if (event.key === "Escape") close();
    else if (event.key === "Enter" || event.key === "Tab") take(active);
    else return false;
    event.preventDefault();
    return true;
  }

  function mentions() {
    const found = new Map();
    for (const match of field.value.matchAll(mentioned)) {
      const name = (match[1] || match[2].replace(/[.,:;!?/-]+$/, "")).trim();
      const fitting = names.filter((each) => each.name === name);
      const id = chosen.get(name) || (fitting.length === 1 ? fitting[0].resource_id : "");
      const each = fitting.find((one) => one.resource_id === id);
      found.set(name, each
        ? { name, resource_id: id, resource_type: each.resource_type }
        : { name, many: fitting.length > 1 });
    }
    return Array.from(found.values()).slice(0, 20);
  }

  field.addEventListener("input", offer);
  field.addEventListener("blur", close);
  field.addEventListener("focus", () => load().catch(() => {}));
  load().catch(() => {});
  return { key, mentions };
}
