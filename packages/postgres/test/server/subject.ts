import type { Subject } from "@sessions/conformance"
import type { Capabilities } from "@sessions/core/storage"
import { createPostgresStorage } from "@sessions/postgres"
import { createSubject, type Location } from "../subject.ts"
import { createPool } from "./server.ts"

export const pool: ReturnType<typeof createPool> = createPool()

export const server: Subject<Location> = createSubject("postgres", async () => pool)

export const capabilities: Capabilities = createPostgresStorage({ client: pool }).capabilities
