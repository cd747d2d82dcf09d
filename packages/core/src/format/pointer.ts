/** Reads and writes values of parsed JSON by JSON pointer (RFC 6901). Only own properties count, whatever their names. */

export function pointerOf(path: readonly (string | number)[]): string {
  return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")
}

/** The keys of a pointer, or undefined if the text is not a JSON pointer. */
export function pathOf(pointer: string): readonly string[] | undefined {
  if (pointer === "") return []
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined
  return pointer
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
}

/** The value at a pointer, or undefined. */
export function getAt(root: unknown, pointer: string): unknown {
  let value = root
  for (const key of pathOf(pointer) ?? [undefined]) {
    if (key === undefined || !holds(value, key)) return undefined
    value = value[key]
  }
  return value
}

/**
 * The root with other values at these pointers. Copies only the containers on the way and keeps the order of keys; a pointer to a missing
 * value is ignored.
 */
export function setAt<T>(root: T, values: ReadonlyMap<string, unknown>): T {
  const copies = new Set<unknown>()
  let result: unknown = root
  for (const [pointer, value] of values) {
    const path = pathOf(pointer)
    if (path !== undefined && getAt(result, pointer) !== undefined) result = replaceAt(result, path, value, copies)
  }
  return result as T
}

type Container = Record<string, unknown>

/** Sets one value. Copies the containers on the way that are not yet copies of this call. */
function replaceAt(root: unknown, path: readonly string[], value: unknown, copies: Set<unknown>): unknown {
  const last = path.at(-1)
  if (last === undefined) return value
  const top = copyOf(root, copies)
  let container = top
  for (const key of path.slice(0, -1)) {
    const inner = copyOf(container[key], copies)
    // The key exists as an own property, so `__proto__` is assigned like any other.
    container[key] = inner
    container = inner
  }
  container[last] = value
  return top
}

function copyOf(value: unknown, copies: Set<unknown>): Container {
  if (copies.has(value)) return value as Container
  const copy = Array.isArray(value) ? [...(value as readonly unknown[])] : { ...(value as Container) }
  copies.add(copy)
  return copy as Container
}

function holds(value: unknown, key: string): value is Container {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return false
  return !Array.isArray(value) || /^(?:0|[1-9]\d*)$/.test(key)
}
