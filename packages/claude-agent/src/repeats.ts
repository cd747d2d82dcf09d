/**
 * Which lines of a call a transcript has already. Several lines may have one `uuid` and different contents: the SDK reads the last of them from
 * its own file, in the place of the first, so all of them are kept in their order. Lines that come again, because a call is repeated or a
 * file is imported again, are left out.
 */
import type { Sessions } from "@sessions/core"
import { sha256Hex } from "@sessions/core/storage"
import { partIdOf } from "./keys.ts"
import { type FreshLine, lineOf, uuidOf } from "./lines.ts"
import type { SessionStoreEntry } from "./types.ts"

/** The contents of the lines of a transcript that have a uuid, in the order of the log. */
export interface Contents {
  readonly all: string[]
  readonly byUuid: Map<string, string[]>
}

/** Equal for lines with equal JSON. */
export async function contentOf(line: SessionStoreEntry): Promise<string> {
  return sha256Hex(JSON.stringify(line))
}

/** Reads the first `parts` sessions of the transcript with this id. */
export async function readContents(
  sessions: Pick<Sessions, "open">,
  id: string,
  transcript: string | undefined,
  parts: number,
): Promise<Contents> {
  const contents: Contents = { all: [], byUuid: new Map() }
  const ids = new Set<string>()
  for (let part = 1; part <= parts; part++) {
    const session = await sessions.open(partIdOf(id, part, transcript))
    try {
      for await (const entry of session.entries()) {
        const line = lineOf(entry)
        const uuid = line === undefined ? undefined : uuidOf(line)
        if (line === undefined || uuid === undefined) continue
        if (ids.has(entry.id) && (await isRepeated(line, contents))) continue
        ids.add(entry.id)
        addContent(contents, uuid, await contentOf(line))
      }
    } finally {
      await session.close()
    }
  }
  return contents
}

/**
 * Whether a line whose entry has the id of another one is that line: a process that did not know yet of a further part may have written a line
 * that the part has as well, or another one with its uuid.
 */
export async function isRepeated(line: SessionStoreEntry, { byUuid }: Contents): Promise<boolean> {
  const uuid = uuidOf(line)
  return uuid !== undefined && byUuid.get(uuid)?.includes(await contentOf(line)) === true
}

export function addContent({ all, byUuid }: Contents, uuid: string, content: string): void {
  all.push(content)
  const contents = byUuid.get(uuid)
  if (contents === undefined) byUuid.set(uuid, [content])
  else contents.push(content)
}

export const NO_CONTENTS: Contents = { all: [], byUuid: new Map() }

export interface Fresh {
  readonly fresh: readonly FreshLine[]
  /** Of a file that comes again, how many lines of the transcript it has passed; undefined at the end of them. */
  readonly passed: number | undefined
}

/** The lines of a call that are not there. `ids`: of all entries of the transcript; `there` may be empty if no uuid of the call is in it. */
export async function freshIn(
  lines: readonly SessionStoreEntry[],
  ids: ReadonlySet<string>,
  there: Contents,
  passed: number | undefined,
): Promise<Fresh> {
  const contents = await contentsOf(lines, there.all.length > 0)
  const found = freshPlaces(lines, contents, there, passed)
  const taken = new Set<string>()
  const counts = new Map<string, number>()
  const fresh = found.places.map((at) => {
    const line = lines[at] as SessionStoreEntry
    const uuid = uuidOf(line)
    if (uuid === undefined) return { line, id: undefined }
    const before = counts.get(uuid) ?? there.byUuid.get(uuid)?.length ?? 0
    counts.set(uuid, before + 1)
    const id = entryIdOf(uuid, before, contents[at] ?? "", (one) => ids.has(one) || taken.has(one))
    taken.add(id)
    return { line, id }
  })
  return { fresh, passed: found.passed }
}

/** Of the lines with a uuid; without `all` only of those that have the uuid of an earlier one. */
async function contentsOf(lines: readonly SessionStoreEntry[], all: boolean): Promise<(string | undefined)[]> {
  const seen = new Set<string>()
  const contents: (string | undefined)[] = []
  for (const line of lines) {
    const uuid = uuidOf(line)
    const isNeeded = uuid !== undefined && (all || seen.has(uuid))
    contents.push(isNeeded ? await contentOf(line) : undefined)
    if (uuid !== undefined) seen.add(uuid)
  }
  return contents
}

/**
 * Of the lines of one uuid in a call, the first ones are left out that are the last ones of the transcript: there ends a call that is
 * repeated, or that was written in part. While a file comes again, as by an import, its lines are those of the transcript, in their order.
 */
function freshPlaces(
  lines: readonly SessionStoreEntry[],
  contents: readonly (string | undefined)[],
  there: Contents,
  passedBefore: number | undefined,
): { readonly places: readonly number[]; readonly passed: number | undefined } {
  let passed = passedBefore ?? (beginsAgain(contents, there) ? 0 : undefined)
  const left = new Set<number>()
  const byUuid = new Map<string, number[]>()
  for (const [at, line] of lines.entries()) {
    const uuid = uuidOf(line)
    const content = contents[at]
    if (uuid === undefined || content === undefined) continue
    const isThere = passed !== undefined && there.byUuid.get(uuid)?.includes(content) === true
    const found = isThere ? there.all.indexOf(content, passed) : -1
    const places = byUuid.get(uuid)
    if (found >= 0) {
      left.add(at)
      passed = found + 1
    } else if (places === undefined) byUuid.set(uuid, [at])
    else places.push(at)
  }
  for (const [uuid, places] of byUuid) {
    const next = places.map((at) => contents[at])
    for (const at of places.slice(0, overlapOf(there.byUuid.get(uuid) ?? [], next))) left.add(at)
  }
  const places = [...lines.keys()].filter((at) => !left.has(at))
  return { places, passed: passed === there.all.length ? undefined : passed }
}

/**
 * Whether the first line of the transcript is in a call, and behind it another line that is there, or nothing: so begins a file that is imported
 * again. The first line may also be written again, with new ones behind it.
 */
function beginsAgain(contents: readonly (string | undefined)[], { all }: Contents): boolean {
  const call = contents.filter((content) => content !== undefined)
  const [first] = all
  const at = first === undefined ? -1 : call.indexOf(first)
  const next = call[at + 1]
  if (at < 0 || next === undefined) return at === 0
  return all.includes(next)
}

/** How many of the first items of `next` are the last ones of `before`. In linear time, as by Knuth, Morris and Pratt. */
function overlapOf(before: readonly unknown[], next: readonly unknown[]): number {
  /** How many of the first items are the last ones of the first n, for each n. */
  const shorter = [0, 0]
  const grown = (count: number, item: unknown): number => {
    let matched = count
    while (matched > 0 && (matched === next.length || next[matched] !== item)) matched = shorter[matched] ?? 0
    return next[matched] === item ? matched + 1 : 0
  }
  for (let n = 1; n < next.length; n++) shorter.push(grown(shorter[n] ?? 0, next[n]))
  let overlap = 0
  for (const item of before) overlap = grown(overlap, item)
  return overlap
}

/**
 * The id of the entry of a line: its uuid, so that two processes that write it at once write it once. Of a further line of the uuid also its
 * number and its content.
 */
function entryIdOf(uuid: string, before: number, content: string, isTaken: (id: string) => boolean): string {
  for (let number = before + 1; ; number++) {
    const id = number === 1 ? uuid : `${uuid}#${number}.${content.slice(0, 16)}`
    // Any text may be a uuid, also one that looks like such an id.
    if (!isTaken(id)) return id
  }
}
