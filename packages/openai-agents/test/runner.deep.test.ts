import { flowTests } from "./flows.ts"

flowTests("postgres")
