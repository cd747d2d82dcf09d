import { button } from "./buttons.ts"
import { h } from "./dom.ts"

interface Question {
  readonly title: string
  readonly text: string
  readonly yes: string
}

/** Asks before an action that cannot be undone. Escape, and the initially focused button, cancel it. */
export function confirm({ title, text, yes }: Question): Promise<boolean> {
  return new Promise((resolve) => {
    const no = button(undefined, "Cancel", () => dialog.close(""), { class: "plain" })
    const dialog = h(
      "dialog",
      { "aria-labelledby": "confirm-title", "aria-describedby": "confirm-text", role: "alertdialog" },
      h("h2", { id: "confirm-title" }, title),
      h("p", { id: "confirm-text" }, text),
      h(
        "div",
        { class: "row end" },
        no,
        button(undefined, yes, () => dialog.close("yes"), { class: "strong danger" }),
      ),
    )
    dialog.addEventListener("close", () => {
      dialog.remove()
      resolve(dialog.returnValue === "yes")
    })
    document.body.append(dialog)
    dialog.showModal()
    no.focus()
  })
}
