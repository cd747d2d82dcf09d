/** Checks of the shapes of JSON bodies, with the refusals of the API that is imitated. */

/** Where a rule is written or was reported, and when that was read or written. */
export interface Source {
  readonly url: string
  readonly date: string
}

export interface Refusal {
  /** The kind of refusal and the place without its indexes: `long messages[].tool_calls[].id`. */
  readonly rule: string
  /** The sentence of the API. */
  readonly message: string
  readonly source: Source
}

export type Code = "missing" | "type" | "value" | "unknown" | "empty" | "long" | "pattern"

/** What a sentence tells of the value at a place. */
export interface Detail {
  readonly expected?: string
  readonly got?: string
  readonly kind?: "string" | "array"
  readonly limit?: number
}

/** The sentences of an API, by the kind of refusal. */
export type Sentences = Readonly<Record<Code, (path: string, detail: Detail) => string>>

/** The sources of an API's rules, by rule, or by kind for those that its published types state. */
export type Sources = Readonly<Record<string, Source>>

export class Report {
  readonly refusals: Refusal[] = []
  readonly #sentences: Sentences
  readonly #sources: Sources

  constructor(sentences: Sentences, sources: Sources) {
    this.#sentences = sentences
    this.#sources = sources
  }

  /** A refusal of the kinds that shapes have. */
  at(code: Code, path: string, detail: Detail = {}): void {
    this.refuse(`${code} ${path.replaceAll(/\[\d+\]/g, "[]")}`, this.#sentences[code](path, detail))
  }

  refuse(rule: string, message: string): void {
    const source = this.#sources[rule] ?? this.#sources[rule.split(" ")[0] ?? ""]
    if (source === undefined) throw new Error(`The rule ${rule} has no source.`)
    this.refusals.push({ rule, message, source })
  }
}

export type Fields = Readonly<Record<string, unknown>>
export type Check = (value: unknown, path: string, report: Report) => void

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** The elements of a list that are objects; none of what is no list. */
export function fieldsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : []
}

export const anything: Check = () => undefined
export const flag: Check = (value, path, report) => {
  if (typeof value !== "boolean") report.at("type", path, { expected: "a boolean", got: nameOf(value) })
}
export const integer: Check = (value, path, report) => {
  if (!Number.isInteger(value)) report.at("type", path, { expected: "an integer", got: nameOf(value) })
}

export function text(
  o: {
    readonly min?: number
    readonly max?: number
    readonly pattern?: RegExp
    readonly values?: readonly string[]
  } = {},
): Check {
  return (value, path, report) => {
    if (typeof value !== "string") return report.at("type", path, { expected: "a string", got: nameOf(value) })
    if (value.length < (o.min ?? 0)) return report.at("empty", path, { kind: "string" })
    if (o.max !== undefined && value.length > o.max)
      return report.at("long", path, { kind: "string", limit: o.max, got: String(value.length) })
    if (o.pattern !== undefined && !o.pattern.test(value))
      return report.at("pattern", path, { expected: o.pattern.source, got: value })
    if (o.values !== undefined && !o.values.includes(value))
      report.at("value", path, { expected: o.values.map((one) => `'${one}'`).join(", "), got: value })
  }
}

export function list(item: Check, o: { readonly min?: number; readonly max?: number } = {}): Check {
  return (value, path, report) => {
    if (!Array.isArray(value)) return report.at("type", path, { expected: "an array", got: nameOf(value) })
    if (value.length < (o.min ?? 0)) return report.at("empty", path, { kind: "array" })
    if (o.max !== undefined && value.length > o.max)
      report.at("long", path, { kind: "array", limit: o.max, got: String(value.length) })
    for (const [i, one] of value.entries()) item(one, `${path}[${i}]`, report)
  }
}

/** Fields whose name is in neither list are unknown, unless `open`. An optional field may be `null` if its check takes it. */
export function object(
  required: Readonly<Record<string, Check>>,
  optional: Readonly<Record<string, Check>> = {},
  o: { readonly open?: boolean } = {},
): Check {
  return (value, path, report) => {
    if (!isFields(value)) return report.at("type", path, { expected: "an object", got: nameOf(value) })
    const place = (key: string) => (path === "" ? key : `${path}.${key}`)
    for (const key of Object.keys(required))
      if (value[key] === undefined) report.at("missing", place(key), { expected: key })
    for (const [key, one] of Object.entries(value)) {
      const check = own(required, key) ?? own(optional, key)
      if (one === undefined) continue
      if (check !== undefined) check(one, place(key), report)
      else if (o.open !== true) report.at("unknown", place(key), { got: key })
    }
  }
}

/** Objects that a field tells apart. */
export function tagged(tag: string, kinds: Readonly<Record<string, Check>>): Check {
  return (value, path, report) => {
    if (!isFields(value)) return report.at("type", path, { expected: "an object", got: nameOf(value) })
    const kind = value[tag]
    if (kind === undefined) return report.at("missing", `${path}.${tag}`, { expected: tag })
    const check = typeof kind === "string" ? own(kinds, kind) : undefined
    if (check !== undefined) return check(value, path, report)
    const expected = Object.keys(kinds)
      .map((one) => `'${one}'`)
      .join(", ")
    report.at("value", `${path}.${tag}`, { expected, got: String(kind) })
  }
}

/** A text, or what the check takes. */
export function textOr(check: Check, o?: Parameters<typeof text>[0]): Check {
  const ofText = text(o)
  return (value, path, report) => {
    if (typeof value === "string") ofText(value, path, report)
    else if (Array.isArray(value)) check(value, path, report)
    else report.at("type", path, { expected: "a string or an array", got: nameOf(value) })
  }
}

export function nullable(check: Check): Check {
  return (value, path, report) => {
    if (value !== null) check(value, path, report)
  }
}

/** Each text of a body is well-formed Unicode, as JSON in UTF-8 needs. */
export function hasHalves(value: unknown): boolean {
  if (typeof value === "string") return /[\ud800-\udfff]/u.test(value)
  if (Array.isArray(value)) return value.some(hasHalves)
  return isFields(value) && Object.entries(value).some(([key, one]) => hasHalves(key) || hasHalves(one))
}

function own(checks: Readonly<Record<string, Check>>, key: string): Check | undefined {
  return Object.hasOwn(checks, key) ? checks[key] : undefined
}

function nameOf(value: unknown): string {
  if (value === null) return "null"
  if (Array.isArray(value)) return "an array"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}
