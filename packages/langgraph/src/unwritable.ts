/** The part of a value that has no form in JSON. */

export interface Unwritable {
  /** Path of the part, such as `.items[3].price`; `""` for the value itself. */
  readonly path: string
  readonly kind: "bigint" | "cycle" | "throws" | "endless"
  /** The path of the object that the part is again, for a cycle; the message, for a part that throws. */
  readonly detail: string
}

/** How a value is taken apart. */
interface View {
  readonly formOf: (value: unknown) => unknown
  readonly partsOf: (value: object) => Iterator<Part, undefined>
}

/** The part is read when it is its turn, because a getter may throw. */
type Part = readonly [step: string, read: () => unknown]

/** Takes a value apart as `JSON.stringify` does, with LangGraph's forms of `Map`, `Set`, `Error`, `RegExp`, `Uint8Array` and `Send`. */
const WRITTEN: View = { formOf: jsonOf, partsOf: writtenParts }
/** Looks for cycles as LangGraph's serializer does before that: by the keys of objects, without `toJSON`. */
const OWN: View = { formOf: (value) => value, partsOf: ownParts }

/** Undefined if each part of the value has a form. */
export function unwritableIn(value: unknown): Unwritable | undefined {
  return walk(value, WRITTEN)
}

/** The first part that contains itself. */
export function cycleIn(value: unknown): Unwritable | undefined {
  const found = unwritableIn(value)
  if (found?.kind === "cycle") return found
  // A `toJSON` may give a copy in which the cycle is cut, as that of a message does.
  const own = walk(value, OWN)
  return own?.kind === "cycle" ? own : undefined
}

/** More levels are never written: serializers that are recursive end far below it. A `toJSON` that always gives a new object has no end. */
const DEEPEST = 100_000

interface Level {
  readonly step: string
  /** The object, and its form if that is another one. */
  readonly objects: readonly unknown[]
  readonly parts: Iterator<Part, undefined>
}

/** Without recursion, and each object once: a value may be deep, and have the same object in many places. */
function walk(value: unknown, { formOf, partsOf }: View): Unwritable | undefined {
  const levels: Level[] = []
  const open = new Set<unknown>()
  const done = new Set<unknown>()
  const pathTo = (count: number): string =>
    levels
      .slice(0, count)
      .map(({ step }) => step)
      .join("")
  let next: Part | undefined = ["", () => value]
  while (next !== undefined || levels.length > 0) {
    if (next === undefined) {
      for (const object of levels.pop()?.objects ?? []) {
        open.delete(object)
        done.add(object)
      }
    } else {
      const [step, read] = next
      const found = (kind: Unwritable["kind"], detail = ""): Unwritable => {
        return { path: pathTo(levels.length) + step, kind, detail }
      }
      let [part, form]: unknown[] = []
      try {
        part = read()
        form = done.has(part) ? undefined : formOf(part)
      } catch (error) {
        return found("throws", error instanceof Error ? error.message : String(error))
      }
      if (isBigInt(form)) return found("bigint")
      if (typeof form === "object" && form !== null && !done.has(form)) {
        if (open.has(part) || open.has(form)) {
          const at = levels.findIndex(({ objects }) => objects.includes(part) || objects.includes(form))
          return found("cycle", pathTo(at + 1))
        }
        if (levels.length === DEEPEST) return found("endless")
        const objects = part === form ? [form] : [part, form]
        for (const object of objects) open.add(object)
        levels.push({ step, objects, parts: partsOf(form) })
      }
    }
    next = levels.at(-1)?.parts.next().value
  }
  return undefined
}

function jsonOf(value: unknown): unknown {
  if ((typeof value !== "object" || value === null) && typeof value !== "bigint") return value
  const { toJSON } = value as { readonly toJSON?: unknown }
  return typeof toJSON === "function" ? (toJSON.call(value, "") as unknown) : value
}

/** Also one in an object, which JSON takes out of it. */
function isBigInt(value: unknown): boolean {
  return typeof value === "bigint" || Object.prototype.toString.call(value) === "[object BigInt]"
}

function* writtenParts(value: object): Generator<Part, undefined> {
  if (value instanceof Error || value instanceof RegExp || value instanceof Uint8Array) return
  if (value instanceof Set) {
    for (const [at, part] of [...(value as ReadonlySet<unknown>)].entries()) yield [`.values()[${at}]`, () => part]
  } else if (value instanceof Map) {
    for (const [at, [key, part]] of [...(value as ReadonlyMap<unknown, unknown>)].entries()) {
      yield [`.keys()[${at}]`, () => key]
      const isPlain = typeof key === "string" || typeof key === "number"
      yield [isPlain ? `.get(${JSON.stringify(key)})` : `.values()[${at}]`, () => part]
    }
  } else yield* fieldsOf(writtenFields(value))
}

function writtenFields(value: object): object {
  const { lg_name, node, args, timeout, lc, type, kwargs } = value as Readonly<Record<string, unknown>>
  if (lg_name === "Send") return { node, args, timeout }
  // A message of LangChain: the arguments of its constructor have the names of its fields.
  const isMessage = lc === 1 && type === "constructor" && typeof kwargs === "object" && kwargs !== null
  return isMessage ? kwargs : value
}

function* ownParts(value: object): Generator<Part, undefined> {
  if (ArrayBuffer.isView(value)) return
  const keys = Object.keys(value)
  // The arguments of a message's constructor, most of which are its fields as well.
  const isLast = (key: string): boolean => key === "lc_kwargs"
  yield* fieldsOf(value, [...keys.filter((key) => !isLast(key)), ...keys.filter(isLast)])
}

function* fieldsOf(value: object, keys: readonly string[] = Object.keys(value)): Generator<Part, undefined> {
  const fields = value as Readonly<Record<string, unknown>>
  for (const key of keys) yield [Array.isArray(value) ? `[${key}]` : stepTo(key), () => fields[key]]
}

/** A key in a path: `.name`, or `["any text"]`. */
export function stepTo(key: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}
