/** What happens on the way to a server, beside the faults of the proxy: it loses requests and answers, repeats them at once and cuts answers off. */
import type { Answer, Fault } from "../../s3/test/server/fault-proxy.ts"

/** `late` gets what is still on its way when the client has its answer. */
export function faultsOf(random: () => number, late: Promise<unknown>[]): Readonly<Record<string, Fault>> {
  const pause = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, random() * 300))
  const badGateway: Answer = {
    status: 502,
    headers: { "content-type": "text/html" },
    body: Buffer.from("<html>Bad gateway</html>"),
  }
  return {
    delayed: async (send) => {
      await pause()
      return send()
    },
    "bad gateway": async () => badGateway,
    "bad gateway, done": async (send) => {
      await send()
      return badGateway
    },
    "repeated later": async (send) => {
      const answer = await send()
      late.push(
        pause()
          .then(send)
          .catch(() => undefined),
      )
      return answer
    },
    "repeated, the second is first": (send) => {
      late.push(
        pause()
          .then(send)
          .catch(() => undefined),
      )
      return send()
    },
  }
}
