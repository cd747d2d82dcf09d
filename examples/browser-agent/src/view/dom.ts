/** The little that this page needs to make and change elements. */

type Child = Node | string | undefined | false
type Attributes = Readonly<Record<string, string | number | boolean | undefined | ((event: never) => void)>>

/** An element. Functions named `on…` listen; `true` is an attribute without a value, `false` and undefined are none. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener)
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value))
  }
  element.append(...children.filter((child) => child !== undefined && child !== false))
  return element
}

const stamps = new WeakMap<Element, { readonly key: string; readonly stamp: string }>()

/**
 * Makes the children what the items are. One whose item says the same as before stays as it is, with its focus, scroll and whatever
 * is typed into it; so does one that is being edited.
 */
export function reconcile<T>(
  parent: Element,
  items: readonly T[],
  { keyOf, make }: { readonly keyOf: (item: T) => string; readonly make: (item: T) => Element },
): void {
  const old = new Map(Array.from(parent.children, (child) => [stamps.get(child)?.key ?? "", child]))
  const focused = document.activeElement
  const wanted = items.map((item) => {
    const key = keyOf(item)
    const stamp = JSON.stringify(item)
    const there = old.get(key)
    if (there !== undefined && (stamps.get(there)?.stamp === stamp || there.hasAttribute("data-editing"))) return there
    const made = make(item)
    stamps.set(made, { key, stamp })
    if (there?.contains(focused) === true) queueMicrotask(() => refocus(made, focused))
    return made
  })
  for (const child of Array.from(parent.children)) if (!wanted.includes(child)) child.remove()
  for (const [index, child] of wanted.entries()) {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null)
  }
}

/** The new element's part that has the name of the one that was focused. */
function refocus(made: Element, focused: Element | null): void {
  const name = focused?.getAttribute("data-name")
  const target = name == null ? made : made.querySelector(`[data-name="${name}"]`)
  if (target instanceof HTMLElement) target.focus()
}

export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}
