/** Side panels on a narrow screen: one at a time, closed by Escape, by a choice, and by a tap outside. */
import { button } from "./buttons.ts"
import type { IconName } from "./icons.ts"

export interface Drawer {
  readonly opener: HTMLButtonElement
  readonly close: () => void
}

const WIDE = matchMedia("(min-width: 60rem)")

export function createDrawer(
  panel: () => HTMLElement,
  behind: () => HTMLElement,
  o: { picture: IconName; label: string },
): Drawer {
  const opener = button(o.picture, "", open, { class: "quiet opener", label: o.label })
  opener.setAttribute("aria-expanded", "false")

  function open(): void {
    panel().classList.add("open")
    behind().inert = true
    opener.setAttribute("aria-expanded", "true")
    panel().querySelector<HTMLElement>("button, [tabindex='0']")?.focus()
    addEventListener("keydown", onKey)
    addEventListener("pointerdown", onPointer)
  }

  function close(): void {
    if (!panel().classList.contains("open")) return
    panel().classList.remove("open")
    behind().inert = false
    opener.setAttribute("aria-expanded", "false")
    removeEventListener("keydown", onKey)
    removeEventListener("pointerdown", onPointer)
    opener.focus()
  }

  function onKey(event: KeyboardEvent): void {
    if (event.key === "Escape") close()
  }

  function onPointer(event: PointerEvent): void {
    if (
      event.target instanceof Node &&
      !panel().contains(event.target) &&
      document.querySelector("dialog[open]") === null
    )
      close()
  }

  WIDE.addEventListener("change", close)
  return { opener, close }
}
