/** JSON pointers (RFC 6901) into parsed JSON: own properties only, whatever their names. */

export function pointerOf(path: readonly (string | number)[]): string {
  return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")
}

/** The keys of a pointer; undefined for a text that is none. */
export function pathOf(pointer: string): readonly string[] | undefined {
  if (pointer === "") return []
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined
  return pointer
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
}

/** What stands at the pointer; undefined where nothing does. */
export function getAt(root: unknown, pointer: string): unknown {
  let value = root
  for (const key of pathOf(pointer) ?? [undefined]) {
    if (key === undefined || !holds(value, key)) return undefined
    value = value[key]
  }
  return value
}

/**
 * The root with other values at these pointers. Copies only what lies on the way, keeps the order of keys; a pointer to nothing
 * changes nothing.
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

/** Sets one value on the way down, copying what is not yet a copy of this call. */
function replaceAt(root: unknown, path: readonly string[], value: unknown, copies: Set<unknown>): unknown {
  const last = path.at(-1)
  if (last === undefined) return value
  const top = copyOf(root, copies)
  let container = top
  for (const key of path.slice(0, -1)) {
    const inner = copyOf(container[key], copies)
    // Never a new property, so that `__proto__` is a key like any other.
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
