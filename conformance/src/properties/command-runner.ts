/**
 * Runs the commands of the sequential property on one storage and normalizes their results, so that two storages can be compared:
 * identities and versions are numbered in the order of their first appearance, lists without a defined order are sorted, and times
 * are left out.
 */
import { type Chunk, type Head, type SessionStorage, sha256Hex } from "@sessions/core/storage"
import { collect, readFrom } from "../helpers/lines.ts"
import type { Command, Expect } from "./commands.ts"

/** The result of a command: a value, or the error code. */
export type Outcome = { readonly value: unknown } | { readonly code: string; readonly error: unknown }

export class CommandRunner {
  storage: SessionStorage
  readonly #heads = new Map<string, Head[]>()
  readonly #names = new Map<string, string>()

  constructor(storage: SessionStorage) {
    this.storage = storage
  }

  async outcome(command: Command): Promise<Outcome> {
    try {
      return { value: await this.#run(command) }
    } catch (error) {
      const code: unknown = (error as { code?: unknown } | undefined)?.code
      return { code: typeof code === "string" ? code : `no code, but ${String(error)}`, error }
    }
  }

  async #run(command: Command): Promise<unknown> {
    const { storage } = this
    switch (command.do) {
      case "append":
        return this.#record(
          command.session,
          await storage.append(command.session, command.lines, { expect: this.#expect(command) }),
        )
      case "replace": {
        const expect = this.#expect(command)
        if (expect === 0 || storage.replace === undefined) return undefined
        return this.#record(command.session, await storage.replace(command.session, chunkOf(command.lines), { expect }))
      }
      case "head": {
        const head = await storage.head(command.session)
        return head && { next: head.next, bytes: head.bytes, log: this.#name("log", head.log) }
      }
      case "read":
        return readFrom(storage, command.session, command.range)
      case "delete":
        return { bytes: (await storage.delete(command.session)).bytes }
      case "list": {
        const rows = (await collect(storage.list())).map(({ id, next, bytes }) => ({ id, next, bytes }))
        return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      }
      case "reopen":
        return undefined
      case "docs.put": {
        const { key, text } = command
        const version = await storage.docs.put(key, text, { expect: await this.#version(key, command.expect) })
        return this.#name("version", version)
      }
      case "docs.delete": {
        const { key } = command
        await storage.docs.delete(key, { expect: (await this.#version(key, command.expect)) ?? "" })
        return undefined
      }
      case "docs.get": {
        const doc = await storage.docs.get(command.key)
        return doc && { text: doc.text, version: this.#name("version", doc.version) }
      }
      case "docs.list":
        return collect(storage.docs.list(command.prefix))
      case "blobs.put":
        return storage.blobs.put(Uint8Array.from(command.bytes))
      case "blobs.get": {
        const hash = await hashOf(command.bytes)
        const bytes = await storage.blobs.get(hash)
        return { has: await storage.blobs.has(hash), bytes: bytes && [...bytes] }
      }
      case "blobs.delete":
        return storage.blobs.delete(await hashOf(command.bytes))
      case "blobs.list": {
        const rows = (await collect(storage.blobs.list())).map(({ hash, bytes }) => `${hash} ${bytes}`)
        return rows.toSorted()
      }
    }
  }

  #record(session: string, head: Head): unknown {
    this.#heads.set(session, [...(this.#heads.get(session) ?? []), head])
    return { next: head.next, log: this.#name("log", head.log) }
  }

  #expect({ session, expect }: { readonly session: string; readonly expect: Expect }): 0 | Head {
    const heads = this.#heads.get(session) ?? []
    const newest = heads.at(-1)
    if (expect === "none" || newest === undefined) return 0
    if (expect === "first") return heads[0] ?? newest
    return expect === "beyond" ? { ...newest, next: newest.next + 3 } : newest
  }

  async #version(key: string, expect: "current" | "none" | "other"): Promise<string | null> {
    if (expect === "none") return null
    const version = (await this.storage.docs.get(key))?.version ?? null
    return expect === "current" ? version : `${version ?? ""}-other`
  }

  #name(kind: string, value: string): string {
    const key = `${kind} ${value}`
    const name = this.#names.get(key) ?? `${kind} ${this.#names.size + 1}`
    this.#names.set(key, name)
    return name
  }
}

async function* chunkOf(lines: readonly string[]): AsyncGenerator<Chunk> {
  yield { from: 0, lines }
}

function hashOf(bytes: readonly number[]): Promise<string> {
  return sha256Hex(Uint8Array.from(bytes))
}
