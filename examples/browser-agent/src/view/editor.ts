import { button } from "./buttons.ts"
import { h } from "./dom.ts"

interface EditorOptions {
  readonly cancel: () => void
  readonly save: (text: string) => unknown
}

/** Edits a message in place. Enter sends, Shift+Enter begins a line, Escape cancels. */
export function editor(text: string, { cancel, save }: EditorOptions): HTMLElement {
  const field = h("textarea", { rows: 1, "aria-label": "Edit the message" })
  field.value = text
  const send = (): void => {
    if (field.value.trim() !== "") save(field.value)
  }
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.stopPropagation()
      cancel()
    }
    if (isSendKey(event)) {
      event.preventDefault()
      send()
    }
  })
  return h(
    "div",
    { class: "body editor" },
    field,
    h(
      "div",
      { class: "row end" },
      button(undefined, "Cancel", cancel),
      button(undefined, "Send as a branch", send, { class: "strong" }),
    ),
  )
}

/** Enter during the composition of a word (IME) selects the word, so it does not send. */
export function isSendKey(event: KeyboardEvent): boolean {
  return event.key === "Enter" && !event.shiftKey && !event.isComposing
}
