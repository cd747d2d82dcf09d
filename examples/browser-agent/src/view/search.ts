import type { SearchHit } from "@sessions/search"
import type { App } from "../app/app.ts"
import { titleOf } from "../app/files.ts"
import type { State } from "../app/state.ts"
import { h, reconcile } from "./dom.ts"
import { ago, exactly } from "./format.ts"
import type { View } from "./view.ts"

/** The search box with what it found in all sessions. While there is a text in it, the list of sessions is hidden. */
export function createSearchBox(app: App, onChosen: (line: string) => void): View {
  const field = h("input", { type: "search", placeholder: "Search all sessions", "aria-label": "Search all sessions" })
  field.addEventListener("input", () => void app.find(field.value))
  const list = h("ul", { class: "sessions found", "aria-label": "Found messages" })
  const status = h("p", { class: "hint", role: "status" })
  const choose = async (hit: SearchHit): Promise<void> => {
    await app.openHit(hit)
    onChosen(hit.entryId)
  }
  return {
    element: h("search", { class: "search" }, field, status, list),
    update(state) {
      const { found } = state
      list.hidden = found === undefined
      status.hidden = found === undefined
      status.textContent = found === undefined ? "" : statusOf(found.hits.length, found.more)
      reconcile(
        list,
        (found?.hits ?? []).map((hit) => ({ hit, title: sessionTitle(hit, state) })),
        {
          keyOf: ({ hit }) => `${hit.session}/${hit.entryId}`,
          make: ({ hit, title }) => hitElement(hit, title, choose),
        },
      )
    },
  }
}

function statusOf(hits: number, more: boolean): string {
  if (hits === 0) return "Nothing found."
  return more ? `The newest ${hits} messages. Type more words.` : `${hits} found.`
}

function sessionTitle({ session }: SearchHit, { sessions = [] }: State): string {
  const info = sessions.find(({ id }) => id === session)
  return info === undefined ? session : titleOf(info)
}

function hitElement(hit: SearchHit, title: string, choose: (hit: SearchHit) => Promise<void>): HTMLElement {
  const snippet = hit.snippet.map(({ text, match }) => (match ? h("mark", {}, text) : text))
  const time = h("time", { datetime: hit.timestamp, title: exactly(hit.timestamp) }, ago(hit.timestamp))
  return h(
    "li",
    {},
    h(
      "button",
      { type: "button", "data-name": "open", onclick: () => void choose(hit) },
      h("span", { class: "snippet" }, ...snippet),
      h("span", { class: "about" }, `${title} · ${hit.role} · `, time),
    ),
  )
}
