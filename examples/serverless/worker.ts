/** The deployed module of Cloudflare Workers. `BUCKET` is the binding of an R2 bucket. */
import { createSessions } from "@sessions/core"
import { createObjectStorage } from "@sessions/s3"
import { createHandler } from "./handler.ts"
import { createR2ObjectStore, type R2Bucket } from "./r2.ts"

export interface Env {
  readonly BUCKET: R2Bucket
  /** A stand-in for your users: one shared token. Without it nobody has access. */
  readonly TOKEN?: string
}

export default {
  async fetch(request: Request, { BUCKET, TOKEN = "" }: Env): Promise<Response> {
    // A worker may not use in one request what another one has opened, so each request has its own.
    const storage = createObjectStorage({
      store: createR2ObjectStore(BUCKET),
      name: "r2",
      prefix: "agents",
      // What `probe()` answers for R2.
      etags: "quoted",
      patience: 5_000,
    })
    const sessions = createSessions({ storage, ulidsOnly: true })
    const handle = createHandler({
      sessions,
      // A stand-in for your model.
      ask: async ({ length }) => ({
        role: "assistant",
        content: [{ type: "text", text: `I have read ${length} messages.` }],
      }),
      authorize: ({ headers }) => TOKEN !== "" && headers.get("authorization") === `Bearer ${TOKEN}`,
    })
    const response = await handle(request)
    await sessions.close()
    return response
  },
}
