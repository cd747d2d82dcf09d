/** What is hashed: documents, whose version it is, and blobs. Core asks Web Crypto; here Bun's own takes its place for a while. */
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import type { Group, Way } from "./report.ts"

const COUNT = 200

export const hashGroups: readonly Group[] = [
  group("put of a document of 2 KB", putDocs),
  group("get of a blob of 100 KB", getBlob),
]

function group(title: string, work: (storage: SessionStorage) => Promise<void>): Group {
  return {
    title,
    prepare: async () => undefined,
    ways(root) {
      const run = (): Promise<void> => work(createFileStorage({ root }))
      return [{ name: "Web Crypto, as it is", run }, withBun({ name: "`Bun.CryptoHasher`", run })]
    },
    show: (seconds) => `${((seconds * 1e6) / COUNT).toFixed(0)} µs`,
  }
}

async function putDocs(storage: SessionStorage): Promise<void> {
  let version = (await storage.docs.get("d"))?.version ?? null
  for (let i = 0; i < COUNT; i++) version = await storage.docs.put("d", `${i} `.repeat(700), { expect: version })
}

async function getBlob(storage: SessionStorage): Promise<void> {
  const hash = await storage.blobs.put(new Uint8Array(100_000))
  for (let i = 0; i < COUNT; i++) await storage.blobs.get(hash)
}

function withBun({ name, run }: Way): Way {
  const { subtle } = crypto
  const digest = async (_: string, bytes: Uint8Array): Promise<ArrayBuffer> =>
    Bun.CryptoHasher.hash("sha256", bytes).slice().buffer
  return {
    name,
    async run() {
      Object.defineProperty(crypto, "subtle", { value: { digest }, configurable: true })
      try {
        await run()
      } finally {
        Object.defineProperty(crypto, "subtle", { value: subtle, configurable: true })
      }
    },
  }
}
