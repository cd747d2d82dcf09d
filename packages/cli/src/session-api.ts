/** The session API of `sessions serve`: the calls that need no agent. The inspector has checked the token, the address and the origin. */
import type { Sessions } from "@sessions/core"
import { createSessionHandler, type SessionHandler } from "@sessions/http/server"

const READING: ReadonlySet<string> = new Set(["list", "load", "context", "events"])
const CHANGING: ReadonlySet<string> = new Set(["create", "rename", "delete", "stop"])

/** Nothing runs: prompts that wait in the store are those of another server, which has the agent. */
export function createSessionApi(
  sessions: Sessions,
  { write, onError }: { readonly write: boolean; readonly onError: (error: unknown) => void },
): SessionHandler<"owner"> {
  return createSessionHandler({
    sessions: () => sessions,
    authorize: (_, { action }) => {
      if (READING.has(action) || (write && CHANGING.has(action))) return "owner"
      return refused(
        action === "prompt"
          ? "This server runs no agent, so a prompt would wait for ever. Serve the sessions by a program with createSessionHandler."
          : "This server only reads. Start it with `--write` to let it change sessions.",
      )
    },
    background: false,
    run: () => Promise.reject(new Error("sessions serve runs no agent.")),
    onError,
  })
}

function refused(message: string): Response {
  return Response.json({ error: { code: "forbidden", message } }, { status: 403 })
}
