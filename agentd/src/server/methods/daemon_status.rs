//! `daemon/status`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{DaemonStatus, DaemonStatusResult, Empty};

impl Handler for DaemonStatus {
    async fn handle(call: Call, _: Empty) -> Result<DaemonStatusResult, RpcError> {
        let facts = call.server.control().facts();
        Ok(DaemonStatusResult {
            version: facts.version.to_owned(),
            pid: facts.pid,
            started_at: facts.started_at.clone(),
            socket: facts.socket.to_string_lossy().into_owned(),
            state_dir: facts.state_dir.to_string_lossy().into_owned(),
            sessions: call.server.hub().counts(),
            connections: call.server.connections(),
            tasks: call.server.hub().list().iter().map(|session| session.task_count).sum(),
            rss_bytes: rss_bytes(),
        })
    }
}

/// agentd's own memory; 0 where the kernel does not tell.
fn rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    parse_rss(&status).unwrap_or(0)
}

fn parse_rss(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::{parse_rss, rss_bytes};

    #[test]
    fn memory_is_read_from_the_kernels_text() {
        assert_eq!(parse_rss("Name:\tagentd\nVmRSS:\t   12345 kB\nThreads:\t3\n"), Some(12345 * 1024));
        assert_eq!(parse_rss("VmRSS:\t many kB"), None);
        assert!(rss_bytes() > 0);
    }
}
