/** Opens the sessions of a place. */
import { createSessions, type Sessions } from "@sessions/core"
import type { DocStore, SessionStorage } from "@sessions/core/storage"
import type { Place } from "./plan.ts"

/** `step` is called before and after each write. */
export async function openSessions(place: Place, step: () => void = () => undefined): Promise<Sessions> {
  const storage = await openStorage(place)
  const append: SessionStorage["append"] = async (...args) => {
    step()
    const head = await storage.append(...args)
    step()
    return head
  }
  const put: DocStore["put"] = async (...args) => {
    step()
    const version = await storage.docs.put(...args)
    step()
    return version
  }
  return createSessions({ storage: { ...storage, append, docs: { ...storage.docs, put } } })
}

async function openStorage(place: Place): Promise<SessionStorage> {
  switch (place.kind) {
    case "files":
      return (await import("@sessions/fs")).createFileStorage({ root: place.folder })
    case "sqlite":
      return (await import("@sessions/sqlite")).createSqliteStorage({ path: `${place.folder}/sessions.db` })
    case "s3": {
      const { createClient } = await import("../../../s3/test/server/test-server.ts")
      const { createS3Storage } = await import("../../../s3/src/index.ts")
      const { endpoint, prefix } = place
      const client = createClient({ endpoint, region: "us-east-1", accessKeyId: "a", secretAccessKey: "b" })
      return createS3Storage({ client, bucket: "bucket", prefix, etags: "quoted" })
    }
    case "http": {
      const { connectHttpStorage } = await import("../../../http/src/client.ts")
      return connectHttpStorage({ url: place.url, headers: { authorization: place.token } })
    }
    case "postgres": {
      const { createPool } = await import("../../../postgres/test/server/server.ts")
      const { createPostgresStorage } = await import("@sessions/postgres")
      const { url, schema } = place
      return createPostgresStorage({ client: createPool({ connectionString: url, max: 4 }), schema })
    }
  }
}
