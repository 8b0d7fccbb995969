"use strict";
// What a page from a file can do by itself: theme, depth, contents, search, values under the pointer.
(() => {
  const root = document.documentElement;
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const said = JSON.parse(document.body.dataset.said);
  const memory = {
    get(key) { try { return localStorage.getItem(key); } catch { return null; } },
    set(key, value) { try { localStorage.setItem(key, value); } catch { /* not everywhere */ } },
  };

  // light and dark
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = one("#theme");
  const nameTheme = () => { theme.title = isDark() ? said.light : said.dark; };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    memory.set("theme", root.dataset.theme);
    nameTheme();
  });
  nameTheme();

  // all deep texts open, or none
  const depth = one("#depth");
  const deepTexts = all("details.deep");
  const setDepth = (open) => {
    depth.setAttribute("aria-pressed", String(open));
    for (const details of deepTexts) details.open = open;
  };
  depth.addEventListener("click", () => {
    const open = depth.getAttribute("aria-pressed") !== "true";
    const anchor = all("article, section").find((part) => part.getBoundingClientRect().bottom > 120);
    const before = anchor ? anchor.getBoundingClientRect().top : 0;
    setDepth(open);
    if (anchor) scrollBy({ top: anchor.getBoundingClientRect().top - before, behavior: "instant" });
    memory.set("depth", open ? "deep" : "easy");
  });
  setDepth(memory.get("depth") === "deep");
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details.deep, .claim details, .path").filter((details) => !details.open);
    for (const details of closed) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of closed) details.open = false; });

  // a link into something that is folded
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const details = target.closest("details");
    if (details && !details.open) { details.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", unfold);
  unfold();

  // contents: on a phone behind a button; the place where one reads is marked
  const nav = one("#contents");
  const menu = one("#menu");
  const isShown = () => menu.getAttribute("aria-expanded") === "true";
  const showContents = (shown) => { nav.classList.toggle("shown", shown); menu.setAttribute("aria-expanded", String(shown)); };
  menu.addEventListener("click", () => {
    showContents(!isShown());
    if (isShown()) (current ?? one("a", nav)).focus();
  });
  nav.addEventListener("click", (event) => { if (event.target.closest("a")) showContents(false); });
  const links = new Map(all("a", nav).map((link) => [link.hash.slice(1), link]));
  const places = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
  let current = null;
  const spy = () => {
    const line = innerHeight * 0.3;
    let here = places[0];
    for (const place of places) if (place.getBoundingClientRect().top <= line) here = place;
    const link = here && links.get(here.id);
    if (link === current || !link) return;
    current?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "location");
    current = link;
    const box = link.getBoundingClientRect(), frame = nav.getBoundingClientRect();
    if (box.top < frame.top || box.bottom > frame.bottom) nav.scrollTop += box.top - frame.top - frame.height / 3;
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; spy(); });
  }, { passive: true });
  spy();

  // search: titles, texts, claims, terms
  const field = one("#search");
  const results = one("#results");
  let index = null;
  const prepare = () => all("[data-find]").map((part) => {
    const copy = part.cloneNode(true);
    for (const inner of all("svg, [data-find], footer, math", copy)) inner.remove();
    for (const inner of all("p, h2, h3, h4, h5, li, dt, dd, th, td, div, summary, .badge, .eyebrow", copy)) inner.append(" ");
    const text = copy.textContent.replace(/\s+/g, " ").trim();
    return { id: part.id, title: part.dataset.find, text, low: text.normalize("NFC").toLowerCase() };
  });
  const around = (entry, word) => {
    const at = entry.low.indexOf(word);
    if (at < 0) return ["", "", entry.text.slice(0, 70) + "…"]; // it stands in the title alone
    const from = Math.max(0, at - 40);
    return [(from ? "…" : "") + entry.text.slice(from, at), entry.text.slice(at, at + word.length), entry.text.slice(at + word.length, at + word.length + 70) + "…"];
  };
  const show = () => {
    const query = field.value.normalize("NFC").toLowerCase().trim();
    results.hidden = !query;
    if (!query) return;
    index ??= prepare();
    const words = query.split(/\s+/);
    const inTitle = (entry) => entry.title.normalize("NFC").toLowerCase().includes(query);
    const hits = index.filter((entry) => words.every((word) => (entry.title.toLowerCase() + " " + entry.low).includes(word)));
    hits.sort((a, b) => inTitle(b) - inTitle(a));
    one("p", results).textContent = hits.length ? said.found.replace("{count}", hits.length) : said.nothing;
    one("ul", results).replaceChildren(...hits.slice(0, 40).map((entry) => {
      const item = document.createElement("li"), link = document.createElement("a"), small = document.createElement("small");
      link.href = "#" + entry.id;
      link.textContent = entry.title;
      const [before, match, after] = around(entry, words[0]);
      const mark = document.createElement("mark");
      mark.textContent = match;
      small.append(before, mark, after);
      link.append(small);
      item.append(link);
      return item;
    }));
  };
  field.addEventListener("input", show);
  one("form[role=search]").addEventListener("submit", (event) => { event.preventDefault(); one("a", results)?.click(); });
  const leave = () => { results.hidden = true; };
  results.addEventListener("click", (event) => { if (event.target.closest("a")) leave(); });
  document.addEventListener("click", (event) => { if (!event.target.closest("#results, form")) leave(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (isShown()) { showContents(false); menu.focus(); }
      leave();
      hide();
    }
    if (event.key === "/" && !event.target.closest("input")) { event.preventDefault(); field.focus(); }
    if (event.key === "ArrowDown" && event.target === field) { event.preventDefault(); one("a", results)?.focus(); }
  });

  // values of a picture: under the pointer, by touch, or with the arrow keys
  const tip = one("#tip");
  const live = one("#live");
  let shown = null;
  const hide = () => { tip.hidden = true; shown?.classList.remove("now"); shown = null; };
  const place = (x, y) => {
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(6, Math.min(x + 14, innerWidth - box.width - 6)) + "px";
    tip.style.top = (y - box.height - 14 < 6 ? y + 18 : y - box.height - 14) + "px";
  };
  const reveal = (mark, x, y) => {
    if (shown !== mark) { shown?.classList.remove("now"); mark.classList.add("now"); shown = mark; }
    tip.textContent = mark.dataset.value;
    tip.hidden = false;
    place(x, y);
  };
  for (const mark of all(".picture .hover")) {
    const title = one("title", mark);
    if (title) { mark.dataset.value = title.textContent; title.remove(); }
  }
  for (const picture of all(".picture")) {
    const marks = all(".hover", picture);
    if (!marks.length) continue;
    const over = (event) => {
      const mark = event.target.closest(".hover");
      if (mark) reveal(mark, event.clientX, event.clientY); else hide();
    };
    picture.addEventListener("pointermove", over);
    picture.addEventListener("pointerdown", over);
    picture.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hide(); });
    picture.addEventListener("blur", hide);
    let at = -1;
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      at = (at + step + marks.length) % marks.length;
      const box = marks[at].getBoundingClientRect();
      reveal(marks[at], box.left + box.width / 2, box.top + box.height / 2);
      live.textContent = marks[at].dataset.value;
    });
  }
  addEventListener("scroll", hide, { passive: true });
  for (const button of all(".enlarge")) {
    button.addEventListener("click", () => {
      const large = one(".picture", button.closest("figure")).classList.toggle("large");
      button.setAttribute("aria-pressed", String(large));
    });
  }

  // a table that is wider than its box says so
  const wide = new ResizeObserver((entries) => {
    for (const { target } of entries) target.nextElementSibling.hidden = target.scrollWidth <= target.clientWidth + 1;
  });
  for (const box of all(".scroll")) {
    const hint = document.createElement("p");
    hint.className = "sideways";
    hint.textContent = said.sideways;
    hint.hidden = true;
    box.after(hint);
    wide.observe(box);
  }

  // still being written: look again soon
  const seconds = Number(document.body.dataset.reload);
  if (seconds) setTimeout(() => location.reload(), seconds * 1000);
})();
