/** Memory files as documents of a storage: `memory.<hash of the scope>.<name>`. */
import { type CallOptions, type SessionStorage, sha256Hex } from "@sessions/core/storage"
import { checkFileName, checkMemoryText, checkScope, invalidError, isMemoryName } from "./names.ts"
import type { MemoryFiles, MemoryStore } from "./types.ts"

/** 96 bits: two scopes of one storage do not meet. */
const HASH_DIGITS = 24

/**
 * Keeps memory files as documents beside the sessions of a storage. They belong to no session, so deleting sessions leaves them. As durable
 * as the documents of the storage. Needs Web Crypto, which pages have over https and on localhost.
 */
export function createDocumentMemory(storage: SessionStorage): MemoryStore {
  if (typeof storage?.docs?.put !== "function") {
    throw invalidError('createDocumentMemory needs a storage, such as createFileStorage({ root: "./.sessions" }).')
  }
  return {
    of(scope) {
      checkScope("of", scope)
      return filesOf(storage, scope)
    },
  }
}

function filesOf({ docs }: SessionStorage, scope: string): MemoryFiles {
  let hash: Promise<string> | undefined
  const prefix = async (): Promise<string> => {
    hash ??= sha256Hex(scope)
    return `memory.${(await hash).slice(0, HASH_DIGITS)}.`
  }
  return {
    async list(o: CallOptions = {}) {
      const start = await prefix()
      const names: string[] = []
      for await (const key of docs.list(start, o)) names.push(key.slice(start.length))
      return names.filter(isMemoryName)
    },
    async read(name, o = {}) {
      checkFileName(name)
      return docs.get((await prefix()) + name, o)
    },
    async write(name, text, o) {
      checkFileName(name)
      checkMemoryText(name, text)
      return docs.put((await prefix()) + name, text, o)
    },
    async delete(name, o) {
      checkFileName(name)
      await docs.delete((await prefix()) + name, o)
    },
  }
}
