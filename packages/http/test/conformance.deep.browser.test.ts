/** Pages call a server of another origin. */
import { register } from "@sessions/conformance"
import { inject, test } from "vitest"
import { createPageSubject } from "./page-subject.ts"

register(test, createPageSubject("http", inject("httpStorage")))
