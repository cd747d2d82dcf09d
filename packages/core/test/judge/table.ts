/** The sums of a run, to be read. */
import { LAWS, type Law } from "./laws.ts"
import { cutPer1000, paidPer1000, refusedPer1000, SUMS, type Totals, within } from "./totals.ts"

export function table(totals: Totals): string {
  const { groups, histories, stuckSessions, endedForGood, broken, errors } = totals
  const { library, oracle } = groups.all
  const rows: (readonly [string, number | string, (number | string)?])[] = [
    ["histories", histories],
    ["requests sent", library.sends, oracle.sends],
    ["refused, of 1,000 that are possible", refusedPer1000(library).toFixed(1), refusedPer1000(oracle).toFixed(1)],
    ["most refusals of a possible request", library.mostRefusals, oracle.mostRefusals],
    ["possible requests that were given up", library.stuck, oracle.stuck],
    ["sessions with such a request", stuckSessions],
    ["sessions without a possible answer since", endedForGood],
    ["impossible requests that were given up", library.ended, oracle.ended],
    ["summaries paid for each", per(library.paidImpossible, library.ended), per(oracle.paidImpossible, oracle.ended)],
    ["summaries paid, of 1,000 messages", paidPer1000(library).toFixed(1), paidPer1000(oracle).toFixed(1)],
    ["compactions", library.compactions, oracle.compactions],
    ["questions cut, of 1,000 messages", cutPer1000(library).toFixed(1), cutPer1000(oracle).toFixed(1)],
    ["results cut", library.cutResults, oracle.cutResults],
  ]
  for (const kind of ["real", "wild"] as const)
    for (const [since, all] of Object.entries(errors[kind])) {
      const sorted = [...all].sort((a, b) => a - b)
      const at = (share: number): string => `${(100 * (sorted[Math.floor(share * sorted.length)] ?? 0)).toFixed(1)} %`
      const text = `${(100 * within(all)).toFixed(1)} % within 10 %; median ${at(0.5)}, 95th ${at(0.95)}; of ${all.length}`
      rows.push([`error of the predicted size, ${kind}, ${since}`, text])
    }
  for (const [name, { measure, limit }] of Object.entries(SUMS))
    rows.push([`sum ${name}, at most ${limit}`, measure(totals).toFixed(2)])
  for (const law of Object.keys(LAWS) as Law[]) rows.push([`histories that break "${law}"`, broken.get(law) ?? 0])
  const lines = rows.map(([name, library, oracle = ""]) => `| ${name} | ${library} | ${oracle} |`)
  return ["| | library | oracle |", "|---|---|---|", ...lines].join("\n")
}

const per = (a: number, b: number): string => (a / Math.max(1, b)).toFixed(2)
