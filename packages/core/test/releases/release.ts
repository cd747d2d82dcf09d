/**
 * The stored files of a release, in memory, and what is read of them. The packages of that release wrote the files, `expected.json` by
 * {@link readAll}. Nothing writes them again: a version that reads them otherwise reads the sessions of its users otherwise.
 */
import { readFileSync } from "node:fs"
import { createMemoryStorage } from "@sessions/memory"
import { createSessions } from "../../src/session/repository.ts"
import type { TreeNode } from "../../src/log/nodes.ts"
import type { Session } from "../../src/session/types.ts"
import type { SessionStorage } from "../../src/storage/contract.ts"
import { textOf } from "../transfer.ts"
import { exportSession, sessionBranches, sessionTree, verifySession } from "@sessions/core/transfer"

export const ID = "s"
/** The small ones that the log was written with. */
export const BLOBS = { textUnits: 150, imageChars: 150 }
const AT = Date.UTC(2026, 0, 6)

export interface Release {
  /** With their line feeds. */
  readonly log: string
  /** By their hashes; texts. */
  readonly blobs: Readonly<Record<string, string>>
  readonly information: {
    /** `sessions/s/info`. */
    readonly document: string
    /** Texts beside the head, each with the head's `next` that it was written for. */
    readonly beside: readonly { readonly next: number; readonly text: string }[]
  }
  /** The self-contained export. */
  readonly exported: string
  /** What {@link readAll} gave. */
  readonly expected: unknown
}

export function releaseOf(version: string): Release {
  const file = (name: string): string => readFileSync(new URL(`fixtures/${version}/${name}`, import.meta.url), "utf8")
  const json = (name: string): never => JSON.parse(file(name)) as never
  return {
    log: file("log.jsonl"),
    blobs: json("blobs.json"),
    information: json("information.json"),
    exported: file("export.jsonl"),
    expected: withoutSentences(json("expected.json")),
  }
}

/** A storage with the log and its blobs, and with information beside the head or in the document, if it is given. */
export async function storageOf(
  { log, blobs }: Pick<Release, "log" | "blobs">,
  { beside, document }: { beside?: Release["information"]["beside"][number]; document?: string } = {},
): Promise<SessionStorage> {
  const storage = createMemoryStorage({ clock: () => AT })
  for (const text of Object.values(blobs)) await storage.blobs.put(new TextEncoder().encode(text))
  const lines = log.split("\n").slice(0, -1)
  const { next = lines.length, text: info } = beside ?? {}
  const head = await storage.append(ID, lines.slice(0, next), { expect: 0, ...(info === undefined ? {} : { info }) })
  if (next < lines.length) await storage.append(ID, lines.slice(next), { expect: head })
  // The identity of a log is its storage's.
  const ownDocument = document && JSON.stringify({ ...(JSON.parse(document) as object), log: head.log })
  if (ownDocument) await storage.docs.put(`sessions/${ID}/info`, ownDocument, { expect: null })
  return storage
}

/** The code of a diagnostic is kept, its sentence and its place among the others are not. */
export function withoutSentences(read: unknown): unknown {
  const plain = (diagnostic: { readonly code: string; readonly message: string }): object => {
    const { message: _, ...rest } = diagnostic
    return rest
  }
  return JSON.parse(
    JSON.stringify(read, (key, value) =>
      key === "diagnostics"
        ? (value as { code: string; message: string }[]).toSorted((a, b) => (a.code < b.code ? -1 : 1)).map(plain)
        : (value as unknown),
    ),
  )
}

/** What an application reads of the session, as plain JSON. */
export async function readAll(storage: SessionStorage): Promise<unknown> {
  const sessions = createSessions({ storage, blobs: BLOBS })
  const info = await sessions.info(ID)
  const listed = (await sessions.list()).sessions[0]
  const session = await sessions.open(ID)
  const { roots } = await sessionTree(session)
  const read = {
    info,
    listed,
    opened: await session.info(),
    leaf: session.leafId,
    context: await session.context(),
    callStates: await session.callStates(),
    messages: (await session.messages({ limit: 200 })).messages.map(({ entryId }) => entryId),
    labels: labelsOf(roots),
    branches: await branchesOf(session),
    damaged: (await verifySession(sessions, ID)).damaged,
  }
  await sessions.close()
  return withoutSentences(read)
}

/** For the end of each branch: the entries of its context, and its state. Writes `leaf` entries. */
async function branchesOf(session: Session): Promise<unknown> {
  const read: Record<string, unknown> = {}
  for (const { id } of await sessionBranches(session)) {
    await session.branch(id)
    // `reused` names the `leaf` entry that was just written.
    const { messages, reused: _, ...rest } = await session.context()
    read[id] = { messages: messages.map(({ entryId }) => entryId), ...rest }
  }
  return read
}

function labelsOf(nodes: readonly TreeNode[]): readonly (readonly [id: string, label: string])[] {
  return nodes.flatMap(({ entry, label, children }) => [
    ...(label === undefined ? [] : [[entry.id, label] as const]),
    ...labelsOf(children),
  ])
}

/** The self-contained export. */
export async function exportOf(storage: SessionStorage): Promise<string> {
  return textOf(exportSession(createSessions({ storage, blobs: BLOBS }), ID, { selfContained: true }))
}
