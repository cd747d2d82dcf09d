import { processIo, run } from "@sessions/cli"

process.exitCode = await run(["list", "--json"], processIo())
export {}
