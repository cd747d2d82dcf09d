/** The text of an entry that can be found, and its role. Logs may hold values of any shape, so every field is checked. */
import type { ContentBlock, Entry } from "@sessions/core"
import { type Fields, isObject } from "@sessions/core/format"

export interface Content {
  readonly role: string
  readonly text: string
}

/** The parts of a message that are searched. */
export interface FoundMessage {
  readonly role: string
  readonly content: string | readonly ContentBlock[]
}

/** See `SearchOptions.toMessage`. */
export interface ToMessage {
  (entry: Entry): FoundMessage | undefined
  /** Greater after each change of the messages that it gives: a whole number from 1 to 999,999. Default 1. */
  readonly version?: number
}

/** Of {@link contentOf} and `wordsOf`: greater after each change of the texts or words of entries. */
const OWN_EXTRACTION = 2
const VERSIONS = 1_000_000

/**
 * The version of what becomes of a log. An index keeps it for each session, and a program with a greater one reads the session again. The
 * order has an end: two programs with different versions do not read each other's sessions again in turn.
 */
export function extractionOf(toMessage: ToMessage | undefined): number {
  return OWN_EXTRACTION * VERSIONS + (toMessage === undefined ? 0 : versionOf(toMessage))
}

export function isVersioned(toMessage: ToMessage): boolean {
  const version = versionOf(toMessage)
  return Number.isSafeInteger(version) && version >= 1 && version < VERSIONS
}

function versionOf({ version = 1 }: ToMessage): number {
  return version
}

/** Undefined for an entry without text, and for one that is hidden from people. */
export function contentOf(entry: Entry, toMessage?: ToMessage): Content | undefined {
  const fields: Fields = entry
  const texts: string[] = []
  let role: unknown = entry.type
  switch (entry.type) {
    case "message": {
      const message = fields["message"]
      if (!isObject(message)) return undefined
      role = message["role"]
      addMessage(message, texts)
      break
    }
    case "custom_message":
      if (fields["display"] === false) return undefined
      addContent(fields["content"], texts)
      break
    case "compaction":
    case "branch_summary":
      addText(fields["summary"], texts)
      break
    default: {
      const message = toMessage?.(entry)
      if (message === undefined) return undefined
      role = message.role
      addMessage({ ...message }, texts)
    }
  }
  return texts.length === 0 || typeof role !== "string" ? undefined : { role, text: texts.join("\n") }
}

function addMessage(message: Fields, texts: string[]): void {
  addContent(message["content"], texts)
  // The fields of the roles `bashExecution` and `pythonExecution`.
  for (const key of ["command", "code", "output"]) addText(message[key], texts)
}

function addContent(content: unknown, texts: string[]): void {
  if (typeof content === "string") return addText(content, texts)
  if (Array.isArray(content)) for (const block of content as readonly unknown[]) addBlock(block, texts)
}

function addBlock(block: unknown, texts: string[]): void {
  if (typeof block === "string") return addText(block, texts)
  if (!isObject(block)) return
  switch (block["type"]) {
    case "image":
      return
    case "thinking":
      return addText(block["thinking"], texts)
    case "toolCall":
      addText(block["name"], texts)
      return addStrings(block["arguments"], texts)
    case "file":
      addText(block["filename"], texts)
      return addText(block["path"], texts)
    default:
      addText(block["text"], texts)
  }
}

/** All strings in a value but those of images, in order. Without recursion: arguments may be nested deeper than the stack. */
function addStrings(value: unknown, texts: string[]): void {
  const left: unknown[] = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next === "string") addText(next, texts)
    else if (Array.isArray(next) || (isObject(next) && next["type"] !== "image")) {
      for (const one of Object.values(next).reverse()) left.push(one)
    }
  }
}

function addText(text: unknown, texts: string[]): void {
  if (typeof text === "string" && text !== "") texts.push(text)
}
