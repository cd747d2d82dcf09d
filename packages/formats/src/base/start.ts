/** The beginning of a file as JSON, from which the formats tell whether a file is theirs. It is parsed once for all of them. */
import { type Fields, isObject } from "./values.ts"

export interface FileStart {
  readonly text: string
  /** The objects among the first 50 lines, in order. */
  readonly records: readonly Fields[]
  readonly document?: StartOfDocument
}

/** The beginning of a file that is one JSON value instead of lines. */
export interface StartOfDocument {
  readonly kind: "object" | "array"
  /** The names of all fields in the text, at any depth. */
  readonly names: ReadonlySet<string>
  /** The value, up to the last complete element of a long text; undefined for a text that ends within the value. */
  readonly value?: unknown
}

/** Enough for the files of every known agent: some begin with lines of a kind that several agents could write. */
const LINES = 50

/** How much of a file `identify` looks at, in UTF-16 units: as much as core gives an importer. A line may be longer. */
export const START_UNITS = 65_536

/** Parses the beginning of a file. Never throws. */
export function startOf(text: string): FileStart {
  const lines = text.split("\n", LINES + 1)
  const records: Fields[] = []
  let values = 0
  for (const [i, line] of lines.slice(0, LINES).entries()) {
    const isCut = i === lines.length - 1 && text.length >= START_UNITS
    const value = parsed(line) ?? (isCut ? parsedBeginning(line) : undefined)
    if (value === undefined) continue
    values++
    if (isObject(value)) records.push(value)
  }
  const value = parsed(text) ?? (text.length >= START_UNITS ? parsedBeginning(text) : undefined)
  const document = value !== undefined || values <= 1 ? documentOf(text, value) : undefined
  return { text, records, ...(document === undefined ? {} : { document }) }
}

/** The first record that has this field, if it is one of the first 50 lines. */
export function firstWith(start: FileStart, name: string): Fields | undefined {
  return start.records.find((record) => Object.hasOwn(record, name))
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/**
 * The beginning of a JSON value, with the brackets that it leaves open closed: up to the end of the text if that is within the string of a
 * field, else up to the last complete field or element.
 */
function parsedBeginning(text: string): unknown {
  let closing = ""
  let whole = ""
  let withString = ""
  for (const { 0: token, 1: quote, index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*("?)|[[\]{},]/g)) {
    if (token === "{") closing = `}${closing}`
    else if (token === "[") closing = `]${closing}`
    else if (token === "}" || token === "]") closing = closing.slice(1)
    else if (token === ",") whole = text.slice(0, index) + closing
    else if (quote === "" && text.slice(0, index).trimEnd().endsWith(":"))
      withString = `${text.slice(0, index)}${token}"${closing}`
  }
  return parsed(withString) ?? parsed(whole)
}

/** The text may end anywhere in the document, so its names are found without parsing it. */
function documentOf(text: string, value: unknown): StartOfDocument | undefined {
  const first = text.trimStart()[0]
  if (first !== "{" && first !== "[") return undefined
  const names = new Set<string>()
  for (const [, name = ""] of text.matchAll(/"((?:[^"\\]|\\.)*)"\s*:/g)) names.add(name)
  return { kind: first === "{" ? "object" : "array", names, ...(value === undefined ? {} : { value }) }
}
