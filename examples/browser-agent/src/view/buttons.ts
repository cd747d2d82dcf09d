/** Buttons as they are everywhere on the page. */
import { h } from "./dom.ts"
import { icon, type IconName } from "./icons.ts"

interface ButtonOptions {
  /** Said to whoever does not see it, and shown by the pointer. Default: the text. */
  readonly label?: string
  readonly class?: string
  readonly disabled?: boolean
  /** Finds it again after its surroundings were drawn anew. */
  readonly name?: string
}

/** With a picture and a text, of which narrow places may hide the text. */
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
