// First, so that its questions are on the way before anything else is read.
import "./start.ts";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Router } from "wouter";
import { BASE } from "./api/base.ts";
import { ApiError } from "./api/client.ts";
import { App } from "./app.tsx";
import { applyPreferences } from "./preferences.ts";
import { loadPage } from "./routes.tsx";
import { SessionGate } from "./session.tsx";
import "./styles.css";

applyPreferences();
loadPage(location.pathname.slice(BASE.length));

/** An answer of the server is final; only a lost connection is tried again. */
const isLost = (failures: number, error: Error): boolean => !(error instanceof ApiError) && failures < 2;

const queries = new QueryClient({ defaultOptions: { queries: { retry: isLost, staleTime: 5_000 } } });
const root = document.querySelector("#root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <Router base={BASE}>
          <SessionGate>
            <App />
          </SessionGate>
        </Router>
      </QueryClientProvider>
    </StrictMode>,
  );
