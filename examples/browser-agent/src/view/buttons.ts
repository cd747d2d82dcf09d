/** The buttons of the page. */
import { h } from "./dom.ts"
import { icon, type IconName } from "./icons.ts"

interface ButtonOptions {
  /** The accessible name and the tooltip. Default: the text. */
  readonly label?: string
  readonly class?: string
  readonly disabled?: boolean
  /** Identifies the button after its parent was drawn again. */
  readonly name?: string
}

/** A button with an icon and a text, which is hidden if there is little space. */
export function button(
  picture: IconName | undefined,
  text: string,
  onclick: (event: MouseEvent) => void,
  o: ButtonOptions = {},
): HTMLButtonElement {
  const attributes = {
    type: "button",
    class: o.class ?? "quiet",
    "aria-label": o.label ?? (text === "" ? undefined : text),
    title: o.label,
    disabled: o.disabled,
    "data-name": o.name,
    onclick,
  }
  return h(
    "button",
    attributes,
    picture && (icon(picture) as unknown as HTMLElement),
    text !== "" && h("span", {}, text),
  )
}
