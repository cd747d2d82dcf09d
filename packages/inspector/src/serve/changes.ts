/** What the page of a server may change in a session, each by one method of the session. The bodies are checked here. */
import { type Session, SessionError } from "@sessions/core"
import { compact, type Summarize } from "@sessions/core/compaction"
import type { CallOptions } from "@sessions/core/storage"
import { type Fields, isObject } from "../model/fields.ts"

/** An answer with a status that is no other error's. */
export class Refused extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

interface Change {
  readonly session: Session
  /** Only the fields that are declared. */
  readonly body: Fields
  readonly summarize: Summarize | undefined
  readonly o: CallOptions
}

interface ChangeRoute {
  readonly fields: readonly string[]
  readonly run: (change: Change) => Promise<{ readonly ids: readonly string[] }>
}

const CHANGES: Readonly<Record<string, ChangeRoute>> = {
  title: {
    fields: ["title"],
    run: ({ session, body, o }) => session.title(textOrNull(body, "title"), o),
  },
  label: {
    fields: ["entry", "label"],
    run: ({ session, body, o }) => session.label(entryOf(body), textOrNull(body, "label"), o),
  },
  /** `content`: what later contexts have in place of the content; null leaves the entry out. */
  edit: {
    fields: ["entry", "content"],
    run: ({ session, body, o }) => {
      const { content } = body
      if (content === undefined) throw invalidError("`content` must be a text, a list of blocks, or null.")
      // The session checks the blocks.
      return session.edit(entryOf(body), content === null ? null : { content: content as string }, o)
    },
  },
  /** The content of the log again, after an edit. */
  restore: {
    fields: ["entry"],
    async run({ session, body, o }) {
      const id = entryOf(body)
      const entry = await session.entry(id, o)
      if (entry === undefined) throw new SessionError("not_found", `There is no entry ${id}.`)
      const { message, content = isObject(message) ? message["content"] : undefined } = entry as unknown as Fields
      if (content === undefined) throw invalidError(`The entry ${id} has no content.`)
      return session.edit(id, { content: content as string }, o)
    },
  },
  tombstone: {
    fields: ["entry"],
    run: ({ session, body, o }) => session.tombstone(entryOf(body), o),
  },
  branch: {
    fields: ["entry"],
    run: ({ session, body, o }) => session.branch(entryOf(body), o),
  },
  settle: {
    fields: ["entry"],
    run: ({ session, body, o }) => session.settle([entryOf(body)], o),
  },
  compact: {
    fields: [],
    async run({ session, summarize, o }) {
      if (summarize === undefined)
        throw new Refused(501, "unsupported", "This server has no summarizer. Start it with `--summarizer COMMAND`.")
      const { entryId } = await compact(session, { summarize, ...o })
      return { ids: [entryId] }
    },
  },
}

export function isChange(name: string): boolean {
  return Object.hasOwn(CHANGES, name)
}

/** Returns the ids of the appended entries. */
export async function change(
  name: string,
  o: Omit<Change, "body"> & { readonly body: unknown },
): Promise<readonly string[]> {
  const { fields, run } = CHANGES[name] as ChangeRoute
  const { body } = o
  if (!isObject(body)) throw invalidError("The body must be an object.")
  const unknown = Object.keys(body).find((field) => !fields.includes(field))
  if (unknown !== undefined) throw invalidError(`\`${unknown}\` is no field of this call.`)
  const { ids } = await run({ ...o, body })
  return ids
}

/** A text of an edit may be as long as a file. */
const MAX_BODY_BYTES = 4_000_000

/** The body as JSON. */
export async function readBody(request: Request): Promise<unknown> {
  const [type = ""] = (request.headers.get("content-type") ?? "").split(";")
  // A form of another page can send no JSON.
  if (type.trim().toLowerCase() !== "application/json")
    throw new Refused(415, "invalid", "The body must have the content type application/json.")
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  let text = ""
  let bytes = 0
  const reader = request.body?.getReader()
  try {
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      bytes += part.value.length
      if (bytes > MAX_BODY_BYTES) {
        await reader?.cancel()
        throw new Refused(413, "too_large", `The body has more than ${MAX_BODY_BYTES} bytes.`)
      }
      text += decoder.decode(part.value, { stream: true })
    }
    return JSON.parse(text + decoder.decode())
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) throw invalidError("The body is no JSON in UTF-8.")
    throw error
  }
}

function entryOf({ entry }: Fields): string {
  if (typeof entry === "string" && entry !== "") return entry
  throw invalidError("`entry` must be the id of an entry.")
}

function textOrNull(body: Fields, name: string): string | null {
  const value = body[name]
  if (value === null || (typeof value === "string" && value.trim() !== "")) return value
  throw invalidError(`\`${name}\` must be a text, or null to remove it.`)
}

function invalidError(message: string): SessionError {
  return new SessionError("invalid", message)
}
