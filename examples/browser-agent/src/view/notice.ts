import type { App } from "../app/app.ts"
import { button } from "./buttons.ts"
import { h } from "./dom.ts"
import type { Notice } from "../app/notices.ts"
import type { View } from "./view.ts"

/** Shows an error or a result until it is dismissed. */
export function createNotice(app: App): View {
  const element = h("div", { class: "notices", role: "alert" })
  let shown: Notice | undefined
  return {
    element,
    update({ notice }) {
      if (notice === shown) return
      shown = notice
      element.replaceChildren(...(notice === undefined ? [] : [noticeElement(notice, app)]))
    },
  }
}

function noticeElement({ kind, text, detail }: Notice, app: App): HTMLElement {
  return h(
    "div",
    { class: `notice ${kind}` },
    h(
      "div",
      {},
      h("p", {}, text),
      detail !== undefined && h("details", {}, h("summary", {}, "Details"), h("p", {}, detail)),
    ),
    button("close", "", () => app.store.set({ notice: undefined }), { label: "Dismiss" }),
  )
}
