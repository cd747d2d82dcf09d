/** Imports files that are dropped anywhere on the page. */
import type { App } from "../app/app.ts"
import { h } from "./dom.ts"
import { importAndShow } from "./sidebar.ts"

export function createDropZone(app: App): HTMLElement {
  const zone = h("div", { class: "drop", hidden: true }, h("p", {}, "Drop .jsonl files to import them"))
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") === true
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return
    // Otherwise the browser would open the file instead of the page.
    event.preventDefault()
    zone.hidden = false
  })
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) zone.hidden = true
  })
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return
    event.preventDefault()
    zone.hidden = true
    void importAndShow(app, Array.from(event.dataTransfer?.files ?? []))
  })
  return zone
}
