/** Keys of the page: `j` and `k` move between entries, `/` goes to the search field, digits to the tabs. */
import { type Tab, TABS } from "./route.ts"

export interface KeyActions {
  readonly toTab: (tab: Tab) => void
  readonly toSearch: () => void
}

/** Returns the function that ends it. */
export function listenToKeys({ toTab, toSearch }: KeyActions): () => void {
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
    const tab = TABS[Number(event.key) - 1]
    if (event.key === "j" || event.key === "k") moveBy(event.key === "j" ? 1 : -1)
    else if (event.key === "/") toSearch()
    else if (tab !== undefined) toTab(tab)
    else return
    event.preventDefault()
  }
  document.addEventListener("keydown", onKey)
  return () => document.removeEventListener("keydown", onKey)
}

function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return target.type !== "checkbox"
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
}

/** To the next entry, those inside of closed folds left out; without a current one to the first or the last on the screen. */
function moveBy(step: 1 | -1): void {
  // What is inside of a closed fold may have boxes, which are not painted.
  const entries = [...document.querySelectorAll<HTMLElement>("article.entry")].filter((entry) =>
    entry.checkVisibility(),
  )
  // The innermost: an entry may be inside of another one.
  const current = entries.findLastIndex((entry) => entry.contains(document.activeElement))
  const onScreen = entries.filter(isOnScreen)
  const next = current < 0 ? onScreen.at(step === 1 ? 0 : -1) : entries[current + step]
  next?.focus({ preventScroll: true })
  next?.scrollIntoView({ block: "nearest" })
}

function isOnScreen(entry: HTMLElement): boolean {
  const { top, bottom } = entry.getBoundingClientRect()
  return bottom > 0 && top < innerHeight
}
