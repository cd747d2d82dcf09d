/** A transcript as the text of a file. */
import { type Entry, hasCode, type Session, type Sessions } from "@sessions/core"
import { partIdOf, TRANSCRIPT, transcriptOf } from "./keys.ts"
import { lineOf } from "./lines.ts"
import { type Contents, isRepeated, readContents } from "./repeats.ts"

/**
 * The transcript in a session as the text of a file of JSON lines, in pieces: what `@sessions/formats/claude-code` imports. With its
 * repository, the lines of the further sessions follow in which a transcript goes on that has outgrown one.
 */
export async function* transcriptText(
  session: Pick<Session, "id" | "entries">,
  sessions?: Pick<Sessions, "open">,
): AsyncIterable<string> {
  const ids = new Set<string>()
  let transcript: string | undefined
  let before: Contents | undefined

  async function* textOf(entries: AsyncIterable<Entry>, part: number): AsyncGenerator<string> {
    for await (const entry of entries) {
      if (entry.type === "metadata" && entry.key === TRANSCRIPT)
        transcript = transcriptOf({ [TRANSCRIPT]: entry.value })
      const line = lineOf(entry)
      if (line === undefined) continue
      if (ids.has(entry.id)) {
        if (part === 1 || sessions === undefined) continue
        before ??= await readContents(sessions, session.id, transcript, part - 1)
        if (await isRepeated(line, before)) continue
      }
      ids.add(entry.id)
      yield `${JSON.stringify(line)}\n`
    }
  }

  yield* textOf(session.entries(), 1)
  for (let part = 2; sessions !== undefined; part++) {
    const next = await sessions.open(partIdOf(session.id, part, transcript)).catch(undefinedIfMissing)
    if (next === undefined) return
    try {
      yield* textOf(next.entries(), part)
    } finally {
      await next.close()
    }
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if (!hasCode(error, "not_found")) throw error
}
