//! The rows of `stat`.
//!
//! "Request" is towards the service, "response" from it; packets "received" are the clients'.

use std::time::Duration;

use sluice_balance::{BindingStatus, Order, State, VserverStatus};
use sluice_config::{Server, Service, Vserver};
use sluice_protocol::{BoundStat, PersistenceStat, Row, ServiceStat, VserverStat};

use super::show::label;
use super::tcp_inline::tcp_inline;
use super::{View, short, up};

impl View<'_> {
    pub(super) fn server_stats(&self, server: &Server) -> Vec<Row> {
        self.config
            .services_of(server)
            .map(|service| self.service_stat(service))
            .collect()
    }

    pub(super) fn service_stat(&self, service: &Service) -> Row {
        Row::ServiceStat(self.stat_of(service))
    }

    pub(super) fn stat_of(&self, service: &Service) -> ServiceStat {
        let status = self.status(service);
        ServiceStat {
            name: label(service),
            address: service.address().ip().to_string(),
            port: service.address().port().to_string(),
            service_type: service.service_type().name().to_owned(),
            state: short(status.state),
            active: status.active,
            hits: status.hits,
            hits_per_s: status.hits_per_s,
            request_bytes: status.bytes_in,
            request_bytes_per_s: status.bytes_in_per_s,
            response_bytes: status.bytes_out,
            response_bytes_per_s: status.bytes_out_per_s,
            packets_received: status.packets_in,
            packets_sent: status.packets_out,
            window_bytes: status.window_bytes,
            window_packets: status.window_packets,
            connect_failures: status.connect_failures,
            service_resets: status.service_resets,
            service_closes: status.service_closes,
            client_resets: status.client_resets,
            idle_closes: status.idle_closes,
            local_failures: status.local_failures,
            response_time_us: status.response_time.map(micros),
            longest_wait_us: status.longest_wait.map(micros),
            recent_failures: status.recent_failures,
            stands_behind: status.stands_behind,
            tcp_inline: tcp_inline(&status.inline, self.now),
        }
    }

    pub(super) fn vserver_stat(&self, vserver: &Vserver, detail: bool) -> Row {
        let status = self.vserver_status(vserver);
        let active = up(status.bindings.iter().map(|binding| binding.state));
        let bound = || {
            status
                .bindings
                .iter()
                .map(|binding| self.bound_stat(binding))
                .collect()
        };
        Row::VserverStat(VserverStat {
            name: vserver.name().to_owned(),
            address: vserver.listen().address(),
            port: vserver.listen().port().to_string(),
            service_type: vserver.service_type().name().to_owned(),
            state: short(status.state),
            health: health(status),
            services_active: active,
            services_inactive: status.bindings.len() as u64 - active,
            active: status.active,
            hits: status.hits,
            hits_per_s: status.hits_per_s,
            refused: status.refused,
            aborted: status.aborted,
            held_down: status.is_held_down,
            spilling_over: status.is_spilling,
            spillover_threshold: vserver.spillover_threshold().unwrap_or(0),
            spillover_hits: status.spillover_hits,
            down_backup_hits: status.down_backup_hits,
            request_bytes: status.bytes_in,
            request_bytes_per_s: status.bytes_in_per_s,
            response_bytes: status.bytes_out,
            response_bytes_per_s: status.bytes_out_per_s,
            packets_received: status.packets_in,
            packets_sent: status.packets_out,
            persistence: status.persistence.map(|persistence| PersistenceStat {
                sessions: persistence.entries,
                sessions_max: persistence.limit,
                table_full: persistence.overflows,
            }),
            bound: detail.then(bound),
        })
    }

    fn bound_stat(&self, binding: &BindingStatus) -> BoundStat {
        let (service, status) = self.services[&binding.service];
        BoundStat {
            name: label(service),
            address: service.address().ip().to_string(),
            port: service.address().port().to_string(),
            service_type: service.service_type().name().to_owned(),
            state: short(binding.state),
            weight: binding.weight.value(),
            order: binding.order.map(Order::value),
            standby: binding.is_standby,
            hits: binding.hits,
            active: binding.active,
            window_bytes: status.window_bytes,
            window_packets: status.window_packets,
            slow_start: self.slow_start(binding),
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Returns how many percent of the bound weight are UP, rounded down.
fn health(status: &VserverStatus) -> u64 {
    let weight = |binding: &BindingStatus| binding.weight.value();
    let total: u64 = status.bindings.iter().map(weight).sum();
    let up: u64 = status
        .bindings
        .iter()
        .filter(|binding| binding.state == State::Up)
        .map(weight)
        .sum();
    (up * 100).checked_div(total).unwrap_or(0)
}
