import type { SessionInfo } from "@sessions/core"
import type { App } from "../app/app.ts"
import { titleOf } from "../app/files.ts"
import type { State } from "../app/state.ts"
import { button } from "./buttons.ts"
import { h, reconcile } from "./dom.ts"
import { ago, count, exactly } from "./format.ts"
import { createSearchBox } from "./search.ts"
import { createStorageView } from "./storage.ts"
import { createSyncView } from "./sync.ts"
import type { View } from "./view.ts"

/** The list of sessions, newest first; below it the model and the storage. */
export function createSidebar(
  app: App,
  o: { readonly onChosen: () => void; readonly goToLine: (line: string) => void; readonly openModel: () => void },
): View {
  const list = h("ul", { class: "sessions", "aria-label": "Sessions", onkeydown: moveFocus })
  const more = button(undefined, "Show more", () => void app.showMore(), { class: "quiet more" })
  const empty = h("p", { class: "hint" }, "No sessions yet.")
  const picker = h("input", {
    type: "file",
    accept: ".jsonl",
    multiple: true,
    hidden: true,
    "aria-label": "Session files",
  })
  picker.addEventListener("change", () => {
    const files = Array.from(picker.files ?? [])
    // Otherwise the same file could not be chosen again.
    picker.value = ""
    void importAndShow(app, files)
  })
  const storage = createStorageView(app)
  const sync = createSyncView(app)
  const search = createSearchBox(app, (line) => {
    o.onChosen()
    o.goToLine(line)
  })
  const model = button("model", "Model", o.openModel, { class: "quiet wide" })
  const choose = (id: string | undefined): void => {
    app.store.set({ notice: undefined })
    if (id === undefined || id !== app.store.get().openId) void app.show(id)
    o.onChosen()
  }
  const element = h(
    "nav",
    { class: "sidebar", "aria-label": "Sessions" },
    h(
      "div",
      { class: "row" },
      button("plus", "New session", () => choose(undefined), { class: "plain grow" }),
      button("load", "Import", () => picker.click(), { class: "plain", label: "Import a .jsonl file" }),
    ),
    picker,
    h("div", { class: "scroll" }, search.element, list, empty, more),
    h("footer", {}, model, sync.element, storage.element),
  )

  return {
    element,
    update(state) {
      reconcile(
        list,
        (state.sessions ?? []).map((info) => toItem(info, state)),
        {
          keyOf: ({ id }) => id,
          make: (item) => itemElement(item, choose),
        },
      )
      const searching = state.found !== undefined
      search.update(state)
      list.hidden = searching
      empty.hidden = searching || state.sessions === undefined || state.sessions.length > 0
      more.hidden = searching || !state.more
      const name = state.endpoint?.model ?? "stand-in"
      model.lastElementChild?.replaceChildren("Model: ", h("b", {}, name))
      model.setAttribute("aria-label", `Model: ${name}`)
      sync.update(state)
      storage.update(state)
    },
  }
}

/** Imports the files and shows the last imported session. */
export async function importAndShow(app: App, files: readonly File[]): Promise<void> {
  const id = await app.importFiles(files)
  if (id !== undefined) await app.show(id)
}

interface Item {
  readonly id: string
  readonly title: string
  readonly when: string
  readonly exact: string
  readonly messages: string
  readonly current: boolean
  readonly working: boolean
}

function toItem(info: SessionInfo, { openId, turns }: State): Item {
  return {
    id: info.id,
    title: titleOf(info),
    when: ago(info.lastMessageAt),
    exact: info.lastMessageAt,
    // The log counts every message; a question may need several calls and results.
    messages: `${count(info.messageCount, "message")} with tool calls`,
    current: info.id === openId,
    working: turns.has(info.id),
  }
}

function itemElement(item: Item, choose: (id: string) => void): HTMLElement {
  const time = h("time", { datetime: item.exact, title: exactly(item.exact) }, item.when)
  const attributes = {
    type: "button",
    "aria-current": item.current && "true",
    "data-name": "open",
    onclick: () => choose(item.id),
  }
  const about = h("span", { class: "about" }, time, ` · ${item.messages}`, item.working && h("b", {}, " · working"))
  return h("li", {}, h("button", attributes, h("span", { class: "title" }, item.title), about))
}

/** Arrow keys move through the list, in addition to Tab. */
function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  const buttons = Array.from((event.currentTarget as Element).querySelectorAll("button"))
  const next = buttons[buttons.indexOf(document.activeElement as HTMLButtonElement) + step]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}
