"use strict";
// What tables.js (of the reports) needs of the library's page, and a button for each of easy, hard and open.
const element = (name, attributes, text) => Object.assign(document.createElement(name), attributes, { textContent: text });
const unpack = () => {};
{
  const table = document.querySelector(".scroll table");
  for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
    const texts = [...table.tBodies[0].rows].map((row) => row.cells[column].textContent.trim());
    head.classList.toggle("n", texts.every((text) => /^(-?[\d,.]+(e[-+]?\d+)?%?|–|)$/.test(text)));
  }
  const filters = document.querySelector(".filters");
  const field = filters.querySelector("input");
  const buttons = [...filters.querySelectorAll("button")];
  filters.hidden = false;
  field.addEventListener("input", () => {
    const words = field.value.split(/\s+/);
    for (const button of buttons) button.setAttribute("aria-pressed", words.includes(button.value));
  });
  for (const button of buttons) {
    button.addEventListener("click", () => {
      const others = field.value.split(/\s+/).filter((word) => word && !buttons.some(({ value }) => value === word));
      const chosen = button.getAttribute("aria-pressed") === "true" ? [] : [button.value];
      field.value = [...chosen, ...others].join(" ");
      field.dispatchEvent(new Event("input"));
    });
  }
}
