/** Looks at a folder after a crash: opens it anew for each request, reads everything, then appends to each session. Lives as long as its input. */
import { createInterface } from "node:readline"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "../../src/index.ts"
import type { Answer, Found, LookRequest } from "./protocol.ts"

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await look(JSON.parse(line) as LookRequest)
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
process.exit(0)

async function look(request: LookRequest): Promise<Answer> {
  const { root, maxPartBytes } = request
  const storage = createFileStorage({ root, maxPartBytes, lockTimeout: 5_000 })
  try {
    return { found: await findAll(storage, request) }
  } catch (error) {
    return { error: error instanceof Error ? `${error.message}\n${error.stack}` : String(error) }
  } finally {
    await storage[Symbol.asyncDispose]()
  }
}

async function findAll(storage: SessionStorage, { sessions, line }: LookRequest): Promise<Found> {
  const contradictions: string[] = []
  const listed = new Map<string, number>()
  for await (const { id, next } of storage.list()) listed.set(id, next ?? -1)
  const logs: Record<string, readonly string[]> = {}
  for (const id of sessions) {
    const head = await storage.head(id)
    const lines = await linesOf(storage, id)
    if (lines.length !== (head?.next ?? 0)) contradictions.push(`${id}: ${lines.length} lines, next ${head?.next}`)
    if (head?.next !== listed.get(id)) contradictions.push(`${id}: next ${head?.next}, listed ${listed.get(id)}`)
    if (head === undefined) continue
    logs[id] = lines
    await storage.append(id, [line], { expect: { next: head.next, log: head.log } })
    const after = await linesOf(storage, id)
    if (after.length !== lines.length + 1 || after.at(-1) !== line) contradictions.push(`${id}: cannot be gone on with`)
  }
  for (const id of listed.keys()) if (!sessions.includes(id)) contradictions.push(`${id}: listed, made by nobody`)
  const docs: Record<string, string> = {}
  for await (const key of storage.docs.list()) docs[key] = (await storage.docs.get(key))?.text ?? ""
  const blobs: string[] = []
  for await (const { hash } of storage.blobs.list()) {
    const bytes = await storage.blobs.get(hash)
    if (bytes !== undefined) blobs.push(new TextDecoder().decode(bytes))
  }
  return { sessions: logs, docs, blobs, contradictions }
}

async function linesOf(storage: SessionStorage, session: string): Promise<string[]> {
  const lines: string[] = []
  for await (const chunk of storage.read(session)) lines.push(...chunk.lines)
  return lines
}
