"use strict";
// Filters and sorts the samples. Everything is on the page already: elements are hidden, shown and moved, never made
// from text.
(() => {
  const PAGE = 50;

  const words = (text) => text.toLocaleLowerCase();

  const readSample = (element) => {
    const data = element.dataset;
    let text = null;
    return {
      element,
      order: Number(data.order),
      id: data.id,
      human: data.human,
      tags: new Set(JSON.parse(data.tags)),
      states: new Set(data.states.split(" ")),
      distances: data.distances.split(" ").map((each) => (each === "-" ? -1 : Number(each))),
      labelled: data.labelled !== undefined,
      has: (wanted) => {
        text ??= words(element.textContent);
        return text.includes(wanted);
      },
    };
  };

  const stands = (sample, model, state) => {
    if (model !== "") return sample.states.has(`${model}-${state}`);
    return sample.distances.some((_, place) => sample.states.has(`${place}-${state}`));
  };

  const distance = (sample, model) => (model === "" ? Math.max(...sample.distances) : sample.distances[Number(model)]);

  const byLabel = (one, other) => {
    if (one.human === "" || other.human === "") return (one.human === "") - (other.human === "");
    const difference = Number(one.human) - Number(other.human);
    return Number.isNaN(difference) ? one.human.localeCompare(other.human) : difference;
  };

  const comparisons = (model) => ({
    danger: (one, other) =>
      model === ""
        ? one.order - other.order
        : stands(other, model, "dangerous") - stands(one, model, "dangerous") ||
          distance(other, model) - distance(one, model),
    distance: (one, other) => distance(other, model) - distance(one, model),
    id: (one, other) => one.id.localeCompare(other.id, undefined, { numeric: true }),
    human: byLabel,
  });

  const setUp = (part) => {
    const form = part.querySelector("form.controls");
    const list = part.querySelector(".list");
    const more = part.querySelector("button.more");
    const found = part.querySelector(".found");
    const samples = Array.from(list.children, readSample);
    let limit = PAGE;

    const isWanted = (sample, chosen, search) => {
      if (chosen.tag !== "" && !sample.tags.has(chosen.tag)) return false;
      if (chosen.show === "unlabelled" && sample.labelled) return false;
      const isState = chosen.show !== "all" && chosen.show !== "unlabelled";
      if (isState && !stands(sample, chosen.model, chosen.show)) return false;
      return search === "" || sample.has(search);
    };

    const update = () => {
      const chosen = Object.fromEntries(new FormData(form));
      const search = words(chosen.text.trim());
      const wanted = samples.filter((sample) => isWanted(sample, chosen, search));
      const compare = comparisons(chosen.model)[chosen.sort];
      wanted.sort((one, other) => compare(one, other) || one.order - other.order);
      const shown = new Set(wanted.slice(0, limit));
      for (const sample of samples) sample.element.hidden = !shown.has(sample);
      for (const card of list.querySelectorAll("[data-model]"))
        card.hidden = chosen.model !== "" && card.dataset.model !== chosen.model;
      list.append(...Array.from(shown, (sample) => sample.element));
      more.hidden = wanted.length <= limit;
      found.textContent = `${shown.size.toLocaleString("en")} of ${wanted.length.toLocaleString("en")} shown`;
    };

    const restart = () => {
      limit = PAGE;
      update();
    };

    // A link to a sample must work, whatever the filter hides.
    const reveal = () => {
      const target = document.getElementById(location.hash.slice(1));
      if (target === null || !list.contains(target)) return;
      target.hidden = false;
      target.scrollIntoView();
    };

    form.addEventListener("input", restart);
    form.addEventListener("submit", (event) => event.preventDefault());
    more.addEventListener("click", () => {
      limit += PAGE;
      update();
    });
    window.addEventListener("hashchange", reveal);
    document.addEventListener("click", (event) => {
      // The same link a second time changes no hash.
      if (event.target.closest('a[href^="#deck-"]') !== null) setTimeout(reveal);
    });
    form.hidden = false;
    form.reset();
    update();
    reveal();
  };

  const openForPrint = () => {
    const closed = document.querySelectorAll("details.model:not([open]), details.quiet:not([open]), .sample:not([hidden]) details:not([open])");
    for (const each of closed) {
      each.open = true;
      window.addEventListener("afterprint", () => (each.open = false), { once: true });
    }
  };

  for (const part of document.querySelectorAll(".samples")) setUp(part);
  window.addEventListener("beforeprint", openForPrint);
})();
