import type { App } from "../app/app.ts"
import { createChat } from "./chat.ts"
import { createComposer } from "./composer.ts"
import { createContextBar } from "./context-bar.ts"
import { h } from "./dom.ts"
import { createDrawer } from "./drawers.ts"
import { createDropZone } from "./drop.ts"
import { createHeader } from "./header.ts"
import { openModelDialog } from "./model-dialog.ts"
import { createNotice } from "./notice.ts"
import { createOutline } from "./outline.ts"
import { createSidebar } from "./sidebar.ts"

/** The whole page, updated after each change of the state. */
export function createPage(app: App): HTMLElement {
  const left = createDrawer(
    () => sidebar.element,
    () => main,
    { picture: "menu", label: "Sessions" },
  )
  const right = createDrawer(
    () => outline.element,
    () => main,
    { picture: "branches", label: "Branches" },
  )
  const composer = createComposer(app)
  const chat = createChat(app, (text) => {
    void composer.send(text)
    composer.focus()
  })
  // On a touch screen the focus would open the keyboard over the page.
  const focusComposer = (): void => {
    if (matchMedia("(hover: hover)").matches) composer.focus()
  }
  const header = createHeader(app, { sessions: left.opener, branches: right.opener }, focusComposer)
  const bar = createContextBar(app)
  const notice = createNotice(app)
  const sidebar = createSidebar(app, { onChosen: left.close, goToLine, openModel: () => openModelDialog(app) })
  const outline = createOutline(app, (line) => {
    right.close()
    goToLine(line)
  })
  const main = h("main", {}, header.element, bar.element, notice.element, chat.element, composer.element)
  const views = [header, bar, notice, chat, composer, sidebar, outline]
  const draw = (): void => {
    for (const view of views) view.update(app.store.get())
  }
  app.store.subscribe(draw)
  draw()
  queueMicrotask(focusComposer)
  return h("div", { class: "page" }, sidebar.element, main, outline.element, createDropZone(app))
}

function goToLine(line: string): void {
  const element = document.querySelector(`#line-${CSS.escape(line)}`)
  if (!(element instanceof HTMLElement)) return
  element.scrollIntoView({ block: "center" })
  element.focus({ preventScroll: true })
}
