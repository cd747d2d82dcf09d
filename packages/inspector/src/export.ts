/** Writes a session as one HTML file. */
import { type Session, SessionError, type Sessions } from "@sessions/core"
import type { CallOptions } from "@sessions/core/storage"
import { dataBlock, endOfPage, startOfPage } from "./html.ts"
import type { Subagent } from "./model/types.ts"
import { readSession } from "./read/read-session.ts"
import { subagentsOf } from "./read/subagents.ts"
import type { Redact } from "./redact.ts"

export interface SessionPageOptions extends CallOptions {
  /**
   * Called for each text of the session, before any of it is cut; the page has what it returns. Ids, types, roles and times are not
   * changed, and images are passed as Base64. Default: nothing is changed.
   */
  readonly redact?: Redact
  /** Whether the sessions of subagents, and of theirs, are part of the page. Default false. */
  readonly subagents?: boolean
}

/**
 * A session as one HTML file, which loads nothing, sends nothing and runs nothing of the session; in chunks of any length. It shows what the
 * log has when the call reads it. `not_found` if there is no such session, `invalid` for wrong options, else what `redact` throws and the
 * errors of the storage.
 */
export async function* sessionPage(
  sessions: Sessions,
  id: string,
  options: SessionPageOptions = {},
): AsyncGenerator<string, void, undefined> {
  const { redact, subagents = false, signal } = options
  checkOptions(options)
  const o = signal === undefined ? {} : { signal }
  const session = await sessions.open(id, o)
  try {
    const { title = "" } = await session.info(o)
    const named = redact === undefined ? title : redact(title)
    yield startOfPage(named === "" ? `Session ${id}` : named)
    yield* blocksOf(sessions, session, { redact, ...o }, subagents ? new Set([id]) : undefined)
    yield endOfPage()
  } finally {
    await session.close()
  }
}

/** `seen`: the sessions of the page so far; undefined: without subagents. A damaged header may name a session as its own parent. */
async function* blocksOf(
  sessions: Sessions,
  session: Session,
  o: CallOptions & { readonly redact: Redact | undefined },
  seen: Set<string> | undefined,
): AsyncGenerator<string> {
  const { redact, ...call } = o
  const found = seen === undefined ? [] : await subagentsOf(sessions, session.id, call)
  const subagents = found.filter(({ id }) => !seen?.has(id))
  for (const { id } of subagents) seen?.add(id)
  const shown = subagents.map(
    (one): Subagent => ({ ...one, title: redact === undefined ? one.title : redact(one.title) }),
  )
  for await (const part of readSession(sessions, session, { ...o, subagents: shown })) {
    if ("entries" in part) {
      const range = ` data-from="${part.entries[0]?.[0]}" data-to="${part.entries.at(-1)?.[0]}"`
      yield dataBlock(session.id, "entries", part.entries, range)
    } else if ("context" in part) yield dataBlock(session.id, "context", part.context)
    else if ("rows" in part) yield dataBlock(session.id, "rows", part.rows)
    else yield dataBlock(session.id, "summary", part.summary)
  }
  for (const { id } of subagents) {
    const child = await sessions.open(id, call)
    try {
      yield* blocksOf(sessions, child, o, seen)
    } finally {
      await child.close()
    }
  }
}

function checkOptions({ redact, subagents, ...others }: SessionPageOptions): void {
  if (redact !== undefined && typeof redact !== "function") throw invalidError("`redact` must be a function.")
  if (subagents !== undefined && typeof subagents !== "boolean") throw invalidError("`subagents` must be a boolean.")
  const unknown = Object.keys(others).find((name) => name !== "signal")
  if (unknown !== undefined) throw invalidError(`there is no option \`${unknown}\`.`)
}

function invalidError(message: string): SessionError {
  return new SessionError("invalid", `sessionPage: ${message}`)
}
