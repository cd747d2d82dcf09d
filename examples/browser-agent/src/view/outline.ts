import type { App } from "../app/app.ts"
import type { Conversation } from "../sessions/conversation.ts"
import { type OutlineRow, outlineOf } from "../sessions/outline.ts"
import { h, reconcile } from "./dom.ts"
import type { View } from "./view.ts"

/** The outline of the branches. Selecting one shows it and writes nothing. */
export function createOutline(app: App, onChosen: (line: string) => void): View {
  const tree = h("ul", {
    class: "tree",
    role: "tree",
    "aria-label": "Branches",
    "aria-multiselectable": "true",
    onkeydown: (event: KeyboardEvent) => move(tree, event),
  })
  const hint = h("p", { class: "hint" })
  const choose = async (row: OutlineRow): Promise<void> => {
    if (!row.onPath) await app.view(row.leaf)
    onChosen(row.id)
  }
  let drawn: Conversation | undefined
  return {
    element: h(
      "section",
      { class: "outline", "aria-labelledby": "outline-title" },
      h("h2", { id: "outline-title" }, "Branches"),
      hint,
      tree,
    ),
    update({ conversation }) {
      if (conversation === drawn && conversation !== undefined) return
      drawn = conversation
      const rows = conversation === undefined ? [] : outlineOf(conversation.tree, conversation.leaf)
      reconcile(tree, rows, { keyOf: ({ id }) => id, make: (row) => rowElement(row, (row) => void choose(row)) })
      hint.textContent = hintOf(rows)
      // Tab stops once at the tree; arrow keys move within it.
      const items = Array.from(tree.children) as HTMLElement[]
      if (!items.some((item) => item.tabIndex === 0)) {
        const last = items.findLast((item) => item.getAttribute("aria-selected") === "true") ?? items[0]
        if (last !== undefined) last.tabIndex = 0
      }
    },
  }
}

function hintOf(rows: readonly OutlineRow[]): string {
  if (rows.length === 0) return "What you ask is listed here."
  return rows.some(({ forked }) => forked) ? "" : "Edit a question, or have it answered again, and a branch begins."
}

function rowElement(row: OutlineRow, choose: (row: OutlineRow) => void): HTMLElement {
  const element = h(
    "li",
    {
      role: "treeitem",
      tabindex: -1,
      "aria-level": row.depth + 1,
      "aria-selected": String(row.onPath),
      "aria-label": `${row.text}${row.forked ? ", a branch" : ""}`,
      class: `${row.kind}${row.forked ? " forked" : ""}`,
      title: row.text,
      onclick: () => choose(row),
      onkeydown: (event: KeyboardEvent) => {
        if (event.key !== "Enter" && event.key !== " ") return
        event.preventDefault()
        choose(row)
      },
    },
    h("span", { class: "dot" }),
    h("span", { class: "text" }, row.text),
  )
  // Deeper levels would leave no space for the text.
  element.style.setProperty("--depth", String(Math.min(row.depth, 6)))
  return element
}

function move(tree: HTMLElement, event: KeyboardEvent): void {
  const items = Array.from(tree.children) as HTMLElement[]
  const at = items.indexOf(document.activeElement as HTMLElement)
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key]
  const next = to === undefined ? undefined : items[to]
  if (next === undefined) return
  event.preventDefault()
  for (const item of items) item.tabIndex = item === next ? 0 : -1
  next.focus()
}
