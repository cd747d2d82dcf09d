/**
 * Edits JSON text in place. White space, the order of keys, unknown fields and numbers that a double cannot represent stay as they are,
 * which parsing and stringifying would not guarantee.
 */
import { skipString } from "./deep-text.ts"
import { isObject } from "./shape.ts"

/**
 * The text of an object with another value at a path of keys. `undefined` removes the field; a missing field is added at the end. The text
 * must be JSON; a path through a missing field changes nothing. Of duplicate keys the last one counts, as in `JSON.parse`.
 */
export function withValueAt(text: string, path: readonly string[], value: unknown): string {
  let at = skipSpace(text, text.charCodeAt(0) === 0xfeff ? 1 : 0)
  for (const key of path.slice(0, -1)) {
    const member = find(text, at, key)
    if (member === undefined) return text
    at = member.valueAt
  }
  const key = path.at(-1) as string
  const member = find(text, at, key)
  if (value !== undefined) {
    const json = JSON.stringify(value)
    if (member !== undefined) return text.slice(0, member.valueAt) + json + text.slice(member.end)
    return text[at] === "{" ? withMember(text, at, `${JSON.stringify(key)}:${json}`) : text
  }
  return member === undefined ? text : withValueAt(withoutMember(text, at, member), path, undefined)
}

/** The text with other top-level fields; `undefined` removes one. */
export function withFields(text: string, fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields).reduce((changed, [key, value]) => withValueAt(changed, [key], value), text)
}

/** The text of a record after a change, edited only at the differences. An array of another length is replaced. */
export function withChanges(text: string, before: unknown, after: unknown, path: readonly string[] = []): string {
  if (before === after) return text
  const deeper = childrenOf(before, after)
  if (deeper === undefined) return path.length === 0 ? JSON.stringify(after) : withValueAt(text, path, after)
  return deeper.reduce((changed, [key, was, is]) => withChanges(changed, was, is, [...path, key]), text)
}

function childrenOf(before: unknown, after: unknown): readonly [key: string, was: unknown, is: unknown][] | undefined {
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.map((was: unknown, index) => [String(index), was, after[index]])
  if (!isObject(before) || !isObject(after)) return undefined
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].map((key) => [key, own(before, key), own(after, key)])
}

function own(object: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

const SEQ = /-?\d{1,16}(?=,"timestamp":")/y

/** The line of an entry with another seq; undefined if the line's keys are not in our order. */
export function withSeq(line: string, seq: number): string | undefined {
  const at = seqOffset(line)
  SEQ.lastIndex = at ?? 0
  const stored = at === undefined ? null : SEQ.exec(line)
  return stored === null ? undefined : line.slice(0, at) + String(seq) + line.slice(SEQ.lastIndex)
}

/** Not with a regular expression, whose stack a string of some megabytes overflows. */
function seqOffset(line: string): number | undefined {
  let at = 0
  for (const key of KEYS_BEFORE_SEQ) {
    if (!line.startsWith(key, at)) return undefined
    const valueAt = at + key.length
    if (line[valueAt] === '"') at = skipString(line, valueAt)
    else if (key === PARENT_KEY && line.startsWith("null", valueAt)) at = valueAt + 4
    else return undefined
  }
  return line.startsWith(SEQ_KEY, at) ? at + SEQ_KEY.length : undefined
}

const PARENT_KEY = ',"parentId":'
const KEYS_BEFORE_SEQ = ['{"type":', ',"id":', PARENT_KEY]
const SEQ_KEY = ',"seq":'

interface Member {
  /** Offset of its key, or in an array of its value. */
  readonly at: number
  readonly valueAt: number
  /** Offset after its value. */
  readonly end: number
}

function find(text: string, container: number, key: string): Member | undefined {
  let found: Member | undefined
  let index = 0
  for (const member of membersOf(text, container)) {
    const named = member.at === member.valueAt ? String(index++) : keyOf(text, member.at)
    if (named === key) found = member
  }
  return found
}

/** The members of the object or array at an offset; of other values nothing. */
function* membersOf(text: string, container: number): Generator<Member, void, undefined> {
  const isNamed = text[container] === "{"
  if (!isNamed && text[container] !== "[") return
  let at = skipSpace(text, container + 1)
  while (at < text.length && text[at] !== "}" && text[at] !== "]") {
    const valueAt = isNamed ? skipSpace(text, skipSpace(text, skipString(text, at)) + 1) : at
    const end = skipValue(text, valueAt)
    yield { at, valueAt, end }
    const next = skipSpace(text, end)
    at = text[next] === "," ? skipSpace(text, next + 1) : next
  }
}

function keyOf(text: string, at: number): unknown {
  return JSON.parse(text.slice(at, skipString(text, at)))
}

function withMember(text: string, container: number, member: string): string {
  let end = container + 1
  let comma = ""
  for (const one of membersOf(text, container)) {
    end = one.end
    comma = ","
  }
  return text.slice(0, end) + comma + member + text.slice(end)
}

/** Also removes the comma after it, or for the last member the one before it. */
function withoutMember(text: string, container: number, { at, end }: Member): string {
  const next = skipSpace(text, end)
  if (text[next] === ",") return text.slice(0, at) + text.slice(skipSpace(text, next + 1))
  let before: number | undefined
  for (const member of membersOf(text, container)) if (member.at < at) before = member.end
  return text.slice(0, before ?? at) + text.slice(end)
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && " \t\n\r".includes(text.charAt(at))) at++
  return at
}

/** The offset after the value that begins at `from`. */
function skipValue(text: string, from: number): number {
  const first = text[from]
  if (first === '"') return skipString(text, from)
  if (first !== "{" && first !== "[") return endOf(/[,\]}\s]/g, text, from)
  const marks = /["{}[\]]/g
  let depth = 0
  for (let at = from; ; ) {
    marks.lastIndex = at
    const mark = marks.exec(text)
    if (mark === null) return text.length
    at = mark[0] === '"' ? skipString(text, mark.index) : mark.index + 1
    if (mark[0] === "{" || mark[0] === "[") depth++
    else if (mark[0] !== '"' && --depth === 0) return at
  }
}

function endOf(mark: RegExp, text: string, from: number): number {
  mark.lastIndex = from
  return mark.exec(text)?.index ?? text.length
}
