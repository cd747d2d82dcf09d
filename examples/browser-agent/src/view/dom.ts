/** Creates and updates elements. */

type Child = Node | string | undefined | false
type Attributes = Readonly<Record<string, string | number | boolean | undefined | ((event: never) => void)>>

/** Creates an element. Functions named `on…` become listeners, `true` an attribute without a value; `false` and undefined are left out. */
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
 * Updates the children to match the items. The element of an unchanged item is kept, with its focus, scroll position and input, and so
 * is one that is being edited.
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
    const existing = old.get(key)
    if (existing !== undefined && (stamps.get(existing)?.stamp === stamp || existing.hasAttribute("data-editing")))
      return existing
    const created = make(item)
    stamps.set(created, { key, stamp })
    if (existing?.contains(focused) === true) queueMicrotask(() => refocus(created, focused))
    return created
  })
  for (const child of Array.from(parent.children)) if (!wanted.includes(child)) child.remove()
  for (const [index, child] of wanted.entries()) {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null)
  }
}

/** Focuses the part of the new element that has the name of the part that was focused. */
function refocus(created: Element, focused: Element | null): void {
  const name = focused?.getAttribute("data-name")
  const target = name == null ? created : created.querySelector(`[data-name="${name}"]`)
  if (target instanceof HTMLElement) target.focus()
}

export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}
