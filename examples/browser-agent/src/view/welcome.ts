import { h } from "./dom.ts"

const QUESTIONS = [
  "What is left if I close the tab in the middle of a turn?",
  "How do branches work?",
  "May I use two tabs at once?",
  "What happens when the context is full?",
]

/** Shown in a session without messages. */
export function createWelcome(suggest: (text: string) => void): HTMLElement {
  return h(
    "section",
    { class: "welcome", "aria-labelledby": "welcome-title" },
    h("h2", { id: "welcome-title" }, "A new session"),
    h(
      "p",
      {},
      "An agent in one page. Each message is stored in this browser at once, with a network or without, so you can close the tab whenever you like.",
    ),
    h(
      "ul",
      {},
      ...QUESTIONS.map((text) =>
        h("li", {}, h("button", { type: "button", class: "plain", onclick: () => suggest(text) }, text)),
      ),
    ),
  )
}
