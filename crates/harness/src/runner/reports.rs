//! What the host is still to be told of wakes: in order, again after a lost connection, and not about what is stale.

use std::collections::VecDeque;

use chorus_client::c2a::Connection;
use chorus_core::model::wake::ReportResult;
use chorus_wire::attention::method;
use chorus_wire::attention::wake::{Wake, WakeReport, WakeReported};

/// A report on a wake, without details.
pub(super) fn report(wake: &Wake, result: ReportResult) -> WakeReport {
    WakeReport {
        wake_id: wake.wake_id.clone(),
        fence: wake.fence,
        lane: None,
        result: result.into(),
        why: None,
        evidence: None,
        deferred_until: None,
        resume_id: None,
        lines: None,
    }
}

/// Reports kept while the host is away. A wake ends after a few dozen.
const KEPT: usize = 64;

/// Reports that wait, oldest first. One is under way at a time, so that they arrive in order.
#[derive(Default)]
pub(super) struct Reports {
    waiting: VecDeque<WakeReport>,
    under_way: bool,
}

impl Reports {
    /// Adds a report. Signs of life are worth nothing beside another report.
    pub(super) fn add(&mut self, report: WakeReport) {
        let is_life = report.result == ReportResult::Working;
        if is_life && (self.under_way || !self.waiting.is_empty()) {
            return;
        }
        if self.waiting.len() >= KEPT {
            self.waiting.pop_front();
        }
        self.waiting.push_back(report);
    }

    /// The report to send now, if there is one and none is under way.
    pub(super) fn next(&mut self) -> Option<WakeReport> {
        if self.under_way {
            return None;
        }
        let next = self.waiting.front().cloned();
        self.under_way = next.is_some();
        next
    }

    /// The host has answered: it has the report, or never takes it.
    pub(super) fn answered(&mut self) {
        self.under_way = false;
        self.waiting.pop_front();
    }

    /// The connection ended before the answer: the report is sent again.
    pub(super) fn lost(&mut self) {
        self.under_way = false;
    }

    /// Sends all that the host has not answered, in order.
    pub(super) async fn send_all(self, connection: &Connection) {
        for report in &self.waiting {
            let answer = connection.request::<_, WakeReported>(method::WAKE_REPORT, report).await;
            if let Err(error) = answer {
                tracing::info!(wake = %report.wake_id, %error, "a report is not taken");
            }
        }
    }

    /// Drops what is about an older fence than this of its wake.
    pub(super) fn drop_before(&mut self, wake: &str, fence: u32) {
        let first = self.under_way.then(|| self.waiting.pop_front()).flatten();
        self.waiting.retain(|report| report.wake_id != wake || report.fence >= fence);
        self.waiting.extend(first.clone());
        if first.is_some() {
            self.waiting.rotate_right(1);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn report(result: ReportResult, fence: u32) -> WakeReport {
        WakeReport {
            wake_id: "wake_1".to_owned(),
            fence,
            lane: None,
            result: result.into(),
            why: None,
            evidence: None,
            deferred_until: None,
            resume_id: None,
            lines: None,
        }
    }

    #[test]
    fn reports_arrive_in_order_and_again_after_a_lost_connection() {
        let mut reports = Reports::default();
        reports.add(report(ReportResult::Failed, 1));
        reports.add(report(ReportResult::Confirmed, 1));
        assert_eq!(*reports.next().unwrap().result, ReportResult::Failed);
        assert!(reports.next().is_none(), "one at a time");
        reports.lost();
        assert_eq!(*reports.next().unwrap().result, ReportResult::Failed);
        reports.answered();
        assert_eq!(*reports.next().unwrap().result, ReportResult::Confirmed);
        reports.answered();
        assert!(reports.next().is_none());
    }

    #[test]
    fn a_sign_of_life_waits_for_nothing_and_is_not_kept_beside_other_reports() {
        let mut reports = Reports::default();
        reports.add(report(ReportResult::Working, 1));
        reports.add(report(ReportResult::Working, 1));
        assert!(reports.next().is_some());
        reports.answered();
        assert!(reports.next().is_none());
        reports.add(report(ReportResult::Ended, 1));
        reports.add(report(ReportResult::Working, 1));
        reports.next().unwrap();
        reports.answered();
        assert!(reports.next().is_none());
    }

    #[test]
    fn what_is_stale_is_not_sent() {
        let mut reports = Reports::default();
        reports.add(report(ReportResult::Failed, 1));
        reports.add(report(ReportResult::Unknown, 1));
        reports.add(report(ReportResult::Failed, 2));
        assert_eq!(reports.next().unwrap().fence, 1);
        reports.drop_before("wake_1", 2);
        reports.answered();
        assert_eq!(reports.next().unwrap().fence, 2, "the one under way is answered first");
    }
}
